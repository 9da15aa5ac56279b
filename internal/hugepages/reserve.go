package hugepages

import "runtime/debug"

// Reserve lets the heap grow into huge pages until it is larger by size, in bytes, where the
// kernel leaves it to programs. It costs a collection of garbage, so it is called when the heap
// is small. Memory that is not used takes no pages.
func Reserve(size int) {
	if !advised() {
		return
	}
	advise(make([]byte, size))
	// The block is garbage now. What the kernel was told of its addresses remains.
	debug.FreeOSMemory()
}
