package early

import (
	"math"
	"testing"
)

func TestWithin(t *testing.T) {
	for bound, want := range map[uint64]int{math.MaxInt64: huge, 4 << 30: huge, 160 << 20: 40 << 20} {
		if got := within(bound, huge); got != want {
			t.Errorf("of a heap bounded by %d bytes %d have huge pages, want %d", bound, got, want)
		}
	}
}
