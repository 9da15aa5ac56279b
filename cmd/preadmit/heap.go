package main

import (
	"math"
	"runtime"
	"runtime/debug"
)

const (
	// heapStart is the memory, in bytes, a run may take before garbage is collected
	// for the first time. Small runs end below it.
	heapStart = 40 << 20
	// heapGrowth is by how many percent the heap grows between collections from then
	// on: a little less than usual, because memory on a runner is shared.
	heapGrowth = 70
)

// collectLater spares a starting process the many collections of a small heap.
// Settings of the user's (GOGC, GOMEMLIMIT) go before.
func collectLater(getenv func(string) string) {
	if getenv("GOGC") != "" || getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(heapStart)
	// The first collection finds this and cleans up after it.
	runtime.AddCleanup(new([16]byte), func(growth int) {
		debug.SetGCPercent(growth)
		debug.SetMemoryLimit(math.MaxInt64)
	}, heapGrowth)
}
