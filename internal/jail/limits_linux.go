package jail

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const (
	// openFiles limits the file descriptors of a process.
	openFiles = 256
	// stackBytes is the initial stack of threads of C; it counts as data.
	stackBytes = 2 << 20
	// runtimeBytes is the size of mappings that a Go program does not use, and dataShare is the
	// ratio of mapped to used memory: the heap is mapped in pieces of 64 MiB, and stays
	// mapped after it was freed. The parent watches the used memory.
	runtimeBytes = 256 << 20
	dataShare    = 1.25
)

// limitResources sets the limits of this process and of its children. Raising them again needs
// capabilities.
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
		limits[unix.RLIMIT_CPU] = unix.Rlimit{Cur: uint64(s.CPU), Max: uint64(s.CPU)} // Go ignores the signal of the soft limit
	}
	for resource, limit := range limits {
		var now unix.Rlimit
		if err := unix.Getrlimit(resource, &now); err != nil {
			return fmt.Errorf("limit resources: %w", err)
		}
		limit.Max = min(limit.Max, now.Max)
		limit.Cur = min(limit.Cur, limit.Max)
		// Packages os and syscall would restore the number of files before execve.
		if err := unix.Prlimit(0, resource, &limit, nil); err != nil {
			return fmt.Errorf("limit resource %d: %w", resource, err)
		}
	}
	return nil
}

// preferToBeKilled makes the kernel kill this process first when memory runs out.
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
