package heap

import "runtime/debug"

// reserve lets the heap grow into huge pages until it is larger by size, in bytes, where the
// kernel leaves it to programs. It costs a collection of garbage. Memory that is not used takes
// no pages.
func reserve(size int) {
	if !advised() {
		return
	}
	advise(make([]byte, size))
	// The block is garbage now. What the kernel was told of its addresses remains.
	debug.FreeOSMemory()
}
