package early

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
)

// before is made before the init of this package runs.
var before = make([]byte, 64)

// TestReserve asks the kernel what it knows of the memory that a block ends in, and of what the heap had
// before: the init has advised both.
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
	runtime.GC() // so that it finds the same when it runs again
}

// flagsOf returns what the kernel keeps of the memory that has an address.
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
