package early

import (
	"math"
	"testing"
)

func TestHugeWithin(t *testing.T) {
	for bound, want := range map[uint64]int{math.MaxInt64: huge, 4 << 30: huge, 160 << 20: 40 << 20} {
		if got := hugeWithin(bound); got != want {
			t.Errorf("of a heap bounded by %d bytes %d have huge pages, want %d", bound, got, want)
		}
	}
}
