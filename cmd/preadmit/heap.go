package main

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"github.com/preadmit/preadmit/internal/hugepages"
)

const (
	// heapHuge is the size up to which the heap has huge pages, in bytes: what most scans need,
	// with what is garbage in between.
	heapHuge = 256 << 20
	// heapStart is the size of the heap, in bytes, at which garbage is collected for the
	// first time. Small runs end before.
	heapStart = 80 << 20
	// heapGrowth is the growth of the heap between later collections, in percent. It is
	// lower than the default of Go, because memory on a runner is shared.
	heapGrowth = 70
	// heapLeast is the size below which the heap grows by more, though not by more than
	// heapGrowthMost.
	heapLeast, heapGrowthMost = 80 << 20, 200
	// heapLong is what heapLeast becomes in long runs, heapStep by heapStep with each
	// collection after the first heapShort ones. It is less than the state of a large
	// repository needs while its objects are judged, so that what is rendered before is
	// collected seldom.
	heapLong, heapStep, heapShort = 110 << 20, 8 << 20, 24
)

// collectLater avoids the many collections of a small heap. It does nothing if the user has set
// GOGC or GOMEMLIMIT. Of a process that lasts, as lasting reports, the heap stays as small as
// it can be.
func collectLater(getenv func(string) string, lasting func() bool) {
	if getenv("GOGC") != "" || getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(-1)
	hugepages.Reserve(heapHuge)
	debug.SetMemoryLimit(heapStart)
	sizes := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/globals:bytes"}, {Name: "/gc/scan/stack:bytes"}}
	least := uint64(heapLeast)
	var collected func(count int)
	collected = func(count int) {
		metrics.Read(sizes)
		if count > heapShort && !lasting() {
			least = min(least+heapStep, heapLong)
		}
		live := sizes[0].Value.Uint64()
		debug.SetGCPercent(growth(live, live+sizes[1].Value.Uint64()+sizes[2].Value.Uint64(), least))
		debug.SetMemoryLimit(math.MaxInt64)
		afterCollection(collected, count+1)
	}
	afterCollection(collected, 1)
}

// growth returns how much a heap may grow, in percent of all that a collection looks at, before
// it is collected again: heapGrowth, or up to heapGrowthMost as leads to the least size.
func growth(live, scanned, least uint64) int {
	if live >= least || scanned == 0 {
		return heapGrowth
	}
	return min(max(heapGrowth, int(100*(least-live)/scanned)), heapGrowthMost)
}

// afterCollection calls a function after the next collection of garbage.
func afterCollection(f func(int), count int) {
	// The collection frees this and runs its cleanup.
	runtime.AddCleanup(new([16]byte), func(count int) { f(count) }, count)
}
