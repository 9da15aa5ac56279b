package heap

import (
	"runtime/metrics"
	"testing"
)

// TestFirst checks the size of the first garbage collection. If the kernel does not leave huge pages to
// programs, there was no collection before.
func TestFirst(t *testing.T) {
	goal := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
	metrics.Read(goal)
	if got := goal[0].Value.Uint64(); got < first*9/10 || got > first*11/10 {
		t.Errorf("garbage is collected first at %d bytes, want %d", got, first)
	}
}

func TestGrowth(t *testing.T) {
	for _, test := range []struct {
		live, scanned, least uint64
		want                 int
	}{
		{live: 10, scanned: 10, least: 40, want: percentMost},
		{live: 10, scanned: 25, least: 40, want: 120},
		{live: 30, scanned: 35, least: 40, want: percent},
		{live: 50, scanned: 55, least: 40, want: percent},
		{live: 0, scanned: 0, least: 40, want: percent},
	} {
		if got := growth(test.live, test.scanned, test.least); got != test.want {
			t.Errorf("growth(%d, %d, %d) = %d, want %d", test.live, test.scanned, test.least, got, test.want)
		}
	}
}
