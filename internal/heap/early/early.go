package early

import (
	"runtime"
	"runtime/metrics"
)

const (
	// huge is what the heap may grow by and have huge pages, in bytes: what most scans need, with
	// what is garbage in between.
	huge = 256 << 20
	// arena is how much of the kernel's addresses the runtime takes at a time, in bytes; each begins at
	// a multiple of it (heapArenaBytes in runtime/malloc.go).
	arena = 64 << 20
)

func init() {
	runtime.MemProfileRate = 0 // as the first: what is sampled before is kept
	Reserve(huge)
}

// memoryLimit returns the bound of the process's memory in GOMEMLIMIT, in bytes.
func memoryLimit() uint64 {
	sample := []metrics.Sample{{Name: "/gc/gomemlimit:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// within returns how much of a size a heap that is bounded has huge pages for, in bytes. A huge page is
// there as a whole once any of it is used, which the bound does not count.
func within(bound uint64, size int) int { return int(min(uint64(size), bound/4)) }

// Reserve lets the heap have huge pages, and grow into more until it is larger by size, in bytes, or by a
// quarter of GOMEMLIMIT if that is less. It does nothing where the kernel does not leave that to programs. It
// costs a collection of garbage. Memory that is not used takes no pages.
func Reserve(size int) {
	if !advised() {
		return
	}
	here := new([64]byte)
	block := make([]byte, within(memoryLimit(), size))
	advise(addressOf(block), uintptr(len(block)))
	// What the heap has already lies before the block. Not all of its arena is there, which the
	// kernel says, and takes the rest.
	advise(addressOf(here[:])&^(arena-1), arena)
	runtime.KeepAlive(here)
	runtime.GC() // The block is garbage now. What the kernel was told of its addresses remains.
}
