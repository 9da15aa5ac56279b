package scanner

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestShareRenders: every place is tried once before any is tried again, and all of
// them together take no more than a scan may.
func TestShareRenders(t *testing.T) {
	tests := map[string]struct {
		places, left int
		want         []int
	}{
		"enough for all":      {2, 100, []int{placeRenders, placeRenders}},
		"the first more":      {3, 5, []int{2, 2, 1}},
		"not one for all":     {3, 2, []int{1, 1, 0}},
		"nothing to be shown": {0, 5, []int{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var proofs []*proof
			for range tt.places {
				proofs = append(proofs, &proof{})
			}
			shareRenders(proofs, tt.left)
			got := []int{}
			for _, p := range proofs {
				got = append(got, p.renders)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("renders (-want +got):\n%s", diff)
			}
		})
	}
}
