package heap

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"

	"github.com/preadmit/preadmit/internal/heap/early"
)

const (
	// first is the size of the heap, in bytes, at the first garbage collection. Small runs end before.
	first = 52 << 20
	// minimum is the size at Go's first collection with a growth of 100 percent; it is proportional
	// to the growth (GOGC in package runtime).
	minimum = 4 << 20
	// percent is the growth of the heap between later collections. It is lower than Go's default,
	// because memory on a CI runner is shared.
	percent = 70
	// small is the size below which the heap grows by more than percent, up to percentMost.
	small, percentMost = 60 << 20, 200
	// long is what small becomes in long runs, by step with each collection after the first few.
	// Collections of a small live heap then take little of their time.
	long, step, few = 200 << 20, 24 << 20, 7
)

var (
	// lasting is set if this process is long-running.
	lasting atomic.Bool
	// given is set if Grow was called; mu guards it and Go's settings.
	mu    sync.Mutex
	given bool
)

// Only an init function can run before most other packages are initialised.
func init() {
	if os.Getenv("GOGC") != "" {
		return // the user decides
	}
	debug.SetGCPercent(100 * first / minimum)
	afterCollection(collected, 1)
}

// Lasting marks this process as long-running: its heap stays as small as possible.
func Lasting() { lasting.Store(true) }

// large is how much the heap of a process whose memory does not matter may grow with huge pages, in
// bytes.
const large = 2 << 30

// Grow lets the heap grow by a percentage between collections, at any size. It is for processes
// whose memory does not matter.
func Grow(by int) {
	early.Reserve(large)
	mu.Lock()
	defer mu.Unlock()
	given = true
	debug.SetGCPercent(by)
}

// collected sets the growth of the heap until the next collection.
func collected(count int) {
	mu.Lock()
	defer mu.Unlock()
	if given {
		return
	}
	live, scanned := sizes()
	debug.SetGCPercent(growth(live, scanned, least(count)))
	afterCollection(collected, count+1)
}

// sizes returns the size of the live heap, and of everything that a collection scans, in bytes, at the
// last collection.
func sizes() (live, scanned uint64) {
	sizes := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/globals:bytes"}, {Name: "/gc/scan/stack:bytes"}}
	metrics.Read(sizes)
	live = sizes[0].Value.Uint64()
	return live, live + sizes[1].Value.Uint64() + sizes[2].Value.Uint64()
}

// least returns the size below which the heap grows by more, after count collections.
func least(count int) uint64 {
	if count <= few || lasting.Load() {
		return small
	}
	return min(small+uint64(count-few)*step, long)
}

// growth returns the growth of the heap until the next collection, in percent of everything that a
// collection scans: percent, or up to percentMost if that is needed to reach the size least.
func growth(live, scanned, least uint64) int {
	if live >= least || scanned == 0 {
		return percent
	}
	return min(max(percent, int(100*(least-live)/scanned)), percentMost)
}

// afterCollection calls a function after the next collection of garbage.
func afterCollection(f func(int), count int) {
	// The next collection frees this object and runs its cleanup.
	runtime.AddCleanup(new([16]byte), func(count int) { f(count) }, count)
}
