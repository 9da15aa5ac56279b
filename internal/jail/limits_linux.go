package jail

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const (
	// openFiles bounds the file descriptors of a process.
	openFiles = 256
	// stackBytes is the stack that threads of C begin with; it counts as data.
	stackBytes = 2 << 20
	// runtimeBytes is what the memory map of a Go program takes beyond what it uses, and
	// dataShare is how much more it may map than use: the heap is mapped in pieces of 64
	// MiB, and stays mapped when it was given back. What is used is watched from outside.
	runtimeBytes = 256 << 20
	dataShare    = 1.25
)

// limitResources sets the limits of this process and of those it starts. They cannot
// be raised again without capabilities.
func limitResources(s *spec) error {
	limits := map[int]unix.Rlimit{
		unix.RLIMIT_CORE:     {},
		unix.RLIMIT_FSIZE:    {},
		unix.RLIMIT_MSGQUEUE: {},
		unix.RLIMIT_MEMLOCK:  {},
		unix.RLIMIT_NOFILE:   {Cur: openFiles, Max: openFiles},
		unix.RLIMIT_STACK:    {Cur: stackBytes, Max: stackBytes},
	}
	if s.Memory > 0 {
		data := uint64(float64(s.Memory)*dataShare) + runtimeBytes
		limits[unix.RLIMIT_DATA] = unix.Rlimit{Cur: data, Max: data}
	}
	if s.CPU > 0 {
		limits[unix.RLIMIT_CPU] = unix.Rlimit{Cur: uint64(s.CPU), Max: uint64(s.CPU)} // Go ignores the warning signal
	}
	for resource, limit := range limits {
		var now unix.Rlimit
		if err := unix.Getrlimit(resource, &now); err != nil {
			return fmt.Errorf("limit resources: %w", err)
		}
		limit.Max = min(limit.Max, now.Max)
		limit.Cur = min(limit.Cur, limit.Max)
		// Not os or syscall, which would set the number of files back before execve.
		if err := unix.Prlimit(0, resource, &limit, nil); err != nil {
			return fmt.Errorf("limit resource %d: %w", resource, err)
		}
	}
	return nil
}

// preferToBeKilled makes the kernel end this process first when memory runs out.
func preferToBeKilled() error {
	if err := os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0); err != nil {
		return fmt.Errorf("offer to be killed when memory is short: %w", err)
	}
	return nil
}

// dropCapabilities drops the capabilities of root. With no_new_privs set, executing a
// program does not bring them back.
func dropCapabilities() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}
