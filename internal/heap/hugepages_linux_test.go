package heap

import (
	"os"
	"regexp"
	"runtime"
	"runtime/metrics"
	"strconv"
	"testing"
)

const size = 64 << 20

// TestReserve asks the kernel which pages a block has that is allocated later.
func TestReserve(t *testing.T) {
	if !advised() {
		t.Skipf("%s does not leave huge pages to programs", enabled)
	}
	before := heapInUse()
	reserve(size)
	if after := heapInUse(); after > before+size/2 {
		t.Errorf("%d bytes of the heap are in use, %d before", after, before)
	}
	pages := hugeBytes(t)
	block := make([]byte, size/2)
	for i := range block {
		block[i] = 1
	}
	if got := hugeBytes(t) - pages; got < size/4 {
		t.Errorf("%d bytes of huge pages for a block of %d", got, len(block))
	}
	runtime.KeepAlive(block)
}

// heapInUse returns the size of the objects of the heap, in bytes.
func heapInUse() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

var anonHugePages = regexp.MustCompile(`(?m)^AnonHugePages:\s+(\d+) kB$`)

// hugeBytes returns the huge pages that this process has, in bytes.
func hugeBytes(t *testing.T) int {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		t.Skip(err)
	}
	found := anonHugePages.FindSubmatch(maps)
	if found == nil {
		t.Skip("the kernel does not count huge pages")
	}
	kilobytes, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}
