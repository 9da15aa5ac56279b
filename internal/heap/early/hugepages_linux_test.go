package early

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
)

// before is allocated before the init of this package runs.
var before = make([]byte, 64)

// TestReserve reads from the kernel the flags of the memory at a block's end, and of the heap before the
// init: both have been advised.
func TestReserve(t *testing.T) {
	if !advised() {
		t.Skipf("%s does not leave huge pages to programs", enabled)
	}
	block := make([]byte, 150<<20)
	for what, at := range map[string][]byte{"a block": block[len(block)-1:], "what was before": before} {
		if flags := flagsOf(t, addressOf(at)); !strings.Contains(flags+" ", " hg ") {
			t.Errorf("%s is not advised: %s", what, flags)
		}
	}
	runtime.KeepAlive(block)
	runtime.GC() // for the same result when it runs again
}

// flagsOf returns the kernel's flags of the memory at an address.
func flagsOf(t *testing.T, address uintptr) string {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	within := false
	for line := range strings.Lines(string(maps)) {
		var begin, end uintptr
		if n, _ := fmt.Sscanf(line, "%x-%x ", &begin, &end); n == 2 {
			within = begin <= address && address < end
		}
		if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok && within {
			return strings.TrimSuffix(flags, "\n")
		}
	}
	t.Skip("the kernel does not tell")
	return ""
}
