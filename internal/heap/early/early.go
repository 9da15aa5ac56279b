package early

import (
	"runtime"
	"runtime/metrics"
)

const (
	// huge is how much the heap may grow with huge pages, in bytes: what most scans need, including
	// garbage.
	huge = 256 << 20
	// arena is the size of the address ranges that the runtime reserves, in bytes; each begins at
	// a multiple of it (heapArenaBytes in runtime/malloc.go).
	arena = 64 << 20
)

func init() {
	runtime.MemProfileRate = 0 // first, since earlier samples would be kept
	Reserve(huge)
}

// memoryLimit returns GOMEMLIMIT, in bytes.
func memoryLimit() uint64 {
	sample := []metrics.Sample{{Name: "/gc/gomemlimit:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// within returns how much of a size gets huge pages if the memory is limited, in bytes. A huge page is
// allocated as a whole once any of it is used, which GOMEMLIMIT does not take into account.
func within(bound uint64, size int) int { return int(min(uint64(size), bound/4)) }

// Reserve lets the heap use huge pages, and grow into more of them by size bytes, or by a quarter of
// GOMEMLIMIT if that is less. It does nothing if the kernel does not leave that to programs. It costs a
// garbage collection. Unused memory takes no pages.
func Reserve(size int) {
	if !advised() {
		return
	}
	here := new([64]byte)
	var blocks [][]byte
	for left := within(memoryLimit(), size); left > 0; left -= huge {
		// The runtime writes zeros to all of a block if any of its memory was in use before.
		block := make([]byte, min(left, huge))
		advise(addressOf(block), uintptr(len(block)))
		blocks = append(blocks, block)
	}
	// The existing heap lies before the blocks. Its arena is not completely mapped: the kernel returns
	// an error for that, and applies the rest.
	advise(addressOf(here[:])&^(arena-1), arena)
	runtime.KeepAlive(here)
	runtime.KeepAlive(blocks)
	runtime.GC() // frees the blocks; the advice for their addresses remains
}
