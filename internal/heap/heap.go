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
	// first is the size of the heap, in bytes, at which garbage is collected for the first
	// time. Small runs end before.
	first = 72 << 20
	// minimum is the size at which Go collects first with a growth of 100 percent; it is larger in
	// proportion with others (GOGC in package runtime).
	minimum = 4 << 20
	// percent is the growth of the heap between later collections. It is lower than the
	// default of Go, because memory on a runner is shared.
	percent = 70
	// small is the size below which the heap grows by more, though not by more than
	// percentMost.
	small, percentMost = 80 << 20, 200
	// long is what small becomes in long runs, step by step with each collection after the
	// first few. It is less than the state of a large repository needs while its objects are
	// judged, so that what is rendered before is collected seldom.
	long, step, few = 110 << 20, 8 << 20, 24
)

var (
	// lasting is set when this process stays.
	lasting atomic.Bool
	// given is set when the heap grows as Grow says; mu guards it and the settings of Go.
	mu    sync.Mutex
	given bool
)

// An init is the only way to come before most packages of others.
func init() {
	if os.Getenv("GOGC") != "" {
		return // the user decides
	}
	debug.SetGCPercent(100 * first / minimum)
	afterCollection(collected, 1)
}

// Lasting says that this process stays: its heap stays as small as it can be.
func Lasting() { lasting.Store(true) }

// large is what the heap of a process may grow by and have huge pages whose memory does not matter, in
// bytes.
const large = 2 << 30

// Grow lets the heap grow by a percentage between collections, whatever its size. It is for
// processes whose memory does not matter.
func Grow(by int) {
	early.Reserve(large)
	mu.Lock()
	defer mu.Unlock()
	given = true
	debug.SetGCPercent(by)
}

// collected sets how far the heap grows until the next collection.
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

// sizes returns the size of what is live, and of all that a collection looks at, both in bytes and as
// of the last collection.
func sizes() (live, scanned uint64) {
	sizes := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/globals:bytes"}, {Name: "/gc/scan/stack:bytes"}}
	metrics.Read(sizes)
	live = sizes[0].Value.Uint64()
	return live, live + sizes[1].Value.Uint64() + sizes[2].Value.Uint64()
}

// least returns the size below which the heap grows by more, after so many collections.
func least(count int) uint64 {
	if count <= few || lasting.Load() {
		return small
	}
	return min(small+uint64(count-few)*step, long)
}

// growth returns how much a heap may grow, in percent of all that a collection looks at, before
// it is collected again: percent, or up to percentMost as leads to the least size.
func growth(live, scanned, least uint64) int {
	if live >= least || scanned == 0 {
		return percent
	}
	return min(max(percent, int(100*(least-live)/scanned)), percentMost)
}

// afterCollection calls a function after the next collection of garbage.
func afterCollection(f func(int), count int) {
	// The collection frees this and runs its cleanup.
	runtime.AddCleanup(new([16]byte), func(count int) { f(count) }, count)
}
