package main

import (
	"math"
	"runtime"
	"runtime/debug"
)

// heapStart is the memory, in bytes, a run may take before garbage is collected
// for the first time. Most runs end below it.
const heapStart = 48 << 20

// collectLater spares a starting process the many collections of a small heap.
// From the first one on the heap grows as usual. Settings of the user's go
// before.
func collectLater(getenv func(string) string) {
	if getenv("GOGC") != "" || getenv("GOMEMLIMIT") != "" {
		return
	}
	percent := debug.SetGCPercent(-1)
	debug.SetMemoryLimit(heapStart)
	// The first collection finds this and cleans up after it.
	runtime.AddCleanup(new([16]byte), func(percent int) {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(math.MaxInt64)
	}, percent)
}
