package main

import (
	"math"
	"runtime"
	"runtime/debug"
)

const (
	// heapStart is the size of the heap, in bytes, at which garbage is collected for the
	// first time. Small runs end before.
	heapStart = 40 << 20
	// heapGrowth is the growth of the heap between later collections, in percent. It is
	// lower than the default of Go, because memory on a runner is shared.
	heapGrowth = 70
)

// collectLater avoids the many collections of a small heap in a process that starts. It does
// nothing if the user has set GOGC or GOMEMLIMIT.
func collectLater(getenv func(string) string) {
	if getenv("GOGC") != "" || getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(heapStart)
	// The first collection frees this and runs its cleanup.
	runtime.AddCleanup(new([16]byte), func(growth int) {
		debug.SetGCPercent(growth)
		debug.SetMemoryLimit(math.MaxInt64)
	}, heapGrowth)
}
