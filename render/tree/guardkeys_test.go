package tree

import (
	"fmt"
	"strings"
	"testing"
)

// TestKeysWithoutColonsAreCounted checks that the keys of a mapping are counted with and without values.
func TestKeysWithoutColonsAreCounted(t *testing.T) {
	var flow, block strings.Builder
	for i := range 50 {
		fmt.Fprintf(&flow, "k%d, ", i)
		fmt.Fprintf(&block, "? k%d\n", i)
	}
	limits := Limits{Keys: 40}.WithDefaults()
	for _, text := range []string{
		"data: {" + flow.String() + "}\n", block.String(),
		"a: 1\n---\n" + block.String() + "---\nb: 2\n",
	} {
		tree := New(nil, limits)
		if bad := tree.guardFile([]byte(text), "hash"); bad == nil || !strings.Contains(bad.Message, "50 keys") {
			t.Errorf("%.20s...: %v, want 50 keys refused", text, bad)
		}
	}
}
