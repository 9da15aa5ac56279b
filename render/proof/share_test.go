package proof

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestShare checks that every place is tried once before any is tried again, and that all of them together
// stay within a scan's limits.
func TestShare(t *testing.T) {
	tests := map[string]struct {
		costs         []int
		renders, cost int
		want          []int
	}{
		"enough for all":      {[]int{1, 1}, 100, 100, []int{placeRenders, placeRenders}},
		"the first more":      {[]int{1, 1, 1}, 5, 100, []int{2, 2, 1}},
		"not one for all":     {[]int{1, 1, 1}, 2, 100, []int{1, 1, 0}},
		"one costs too much":  {[]int{1, 50, 1}, 5, 40, []int{3, 0, 2}},
		"the cost is used up": {[]int{3, 3, 1}, 100, 8, []int{1, 1, 2}},
		"nothing to be shown": {nil, 5, 5, []int{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Share(tt.costs, tt.renders, tt.cost)); diff != "" {
				t.Errorf("renders (-want +got):\n%s", diff)
			}
		})
	}
}
