package isolate

import "golang.org/x/sys/unix"

const (
	// mappedBytes is the limit for mapped data: the runtime maps more than is in use, but a single huge allocation must
	// fail.
	mappedBytes = 2*maxMemory + 512<<20
	// lastSeconds is the processor time after which the kernel ends a process that has not ended itself.
	lastSeconds = 2 * 20
)

// limitResources sets resource limits in the kernel. In a jail they are already lower.
func limitResources() {
	for resource, most := range map[int]uint64{unix.RLIMIT_DATA: mappedBytes, unix.RLIMIT_CPU: lastSeconds, unix.RLIMIT_CORE: 0} {
		var now unix.Rlimit
		if unix.Getrlimit(resource, &now) != nil {
			continue
		}
		limit := unix.Rlimit{Cur: min(most, now.Cur), Max: min(most, now.Max)}
		_ = unix.Prlimit(0, resource, &limit, nil) // memory and time in use are checked as well
	}
}
