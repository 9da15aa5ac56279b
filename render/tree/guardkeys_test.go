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

// TestGuardUTF16 checks that aliases are counted in documents in UTF-16, whose bytes are not their characters.
func TestGuardUTF16(t *testing.T) {
	bomb := "a: &a [x, x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a]\nc: [*b, *b, *b]\n"
	wide := []byte{0xFF, 0xFE}
	for _, c := range bomb {
		wide = append(wide, byte(c), 0)
	}
	tree := New(nil, Limits{Nodes: 100}.WithDefaults())
	for id, text := range map[string]string{"UTF-8": bomb, "UTF-16": string(wide), "UTF-16 after another": "a: b\n---\n" + string(wide)} {
		if bad := tree.guardFile([]byte(text), id); bad == nil || !strings.Contains(bad.Message, "nodes once its aliases are expanded") {
			t.Errorf("%s: %v, want it refused", id, bad)
		}
	}
}
