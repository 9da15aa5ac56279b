package isolate

import "golang.org/x/sys/unix"

const (
	// mappedBytes is what the process may map for its data: the runtime maps more than is in use,
	// but not what a single allocation asks for beyond all bounds.
	mappedBytes = 2*maxMemory + 512<<20
	// lastSeconds is the processor time after which the kernel ends the process, which has not
	// ended itself.
	lastSeconds = 2 * 20
)

// limitResources has the kernel hold the limits. In a jail they are lower already.
func limitResources() {
	for resource, most := range map[int]uint64{unix.RLIMIT_DATA: mappedBytes, unix.RLIMIT_CPU: lastSeconds, unix.RLIMIT_CORE: 0} {
		var now unix.Rlimit
		if unix.Getrlimit(resource, &now) != nil {
			continue
		}
		limit := unix.Rlimit{Cur: min(most, now.Cur), Max: min(most, now.Max)}
		_ = unix.Prlimit(0, resource, &limit, nil) // what is in use is watched, too
	}
}
