package tree

import (
	"math/rand/v2"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/internal/testall"
)

// TestMayHave compares the cheap tests with parsing of generated texts.
func TestMayHave(t *testing.T) {
	parts := []string{"*a", "*a", "&a ", "&a", "*", "&", "a", "b", "- ", "-", ": ", ":", ", ", ",", "[", "]", "{", "}", "? ", "'", "\"", "(", ")", ".", "/", "=", "`", "<", "!", "!t ", "|", ">", "#",
		"\n", "\n  ", "\n- ", " ", "\t", "\u0085", "\u2028", "\ufeff", "---\n", "...", "%", "@", "~", "+", ";", "\\", "$", "^", "_"}
	aliases, spared := 0, 0
	for seed := range uint64(testall.Count(10_000, 300_000)) {
		r := rand.New(rand.NewPCG(seed, 3))
		var b strings.Builder
		if r.IntN(2) == 0 {
			b.WriteString([]string{"x: &a b\n", "- &a b\n- ", "{x: &a b, ", "[&a b, "}[r.IntN(4)])
		}
		for range r.IntN(3) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		b.WriteString("*a")
		if r.IntN(3) == 0 {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		b.WriteString([]string{"", "}", "]", "\n"}[r.IntN(4)])
		text := b.String()
		may := mayHave([]byte(text), '*')
		nodes, has, anchored := 0, false, false
		decoder := yaml.NewDecoder(strings.NewReader(text))
		for {
			var node yaml.Node
			if decoder.Decode(&node) != nil {
				break
			}
			count(&node, &nodes, &has, &anchored)
		}
		if has && !may {
			t.Fatalf("an alias is not seen in %q", text)
		}
		if anchored && !mayHave([]byte(text), '&') {
			t.Fatalf("an anchor is not seen in %q", text)
		}
		if most := mostNodes([]byte(text)); nodes > most {
			t.Fatalf("%d nodes in %q, said to be %d at most", nodes, text, most)
		}
		if has {
			aliases++
		} else if !may && strings.Contains(text, "*") {
			spared++
		}
	}
	if aliases < 300 || spared < 300 {
		t.Errorf("%d texts have an alias, %d a * that is none: too few", aliases, spared)
	}
}

func count(n *yaml.Node, nodes *int, has, anchored *bool) {
	*nodes++
	*has, *anchored = *has || n.Kind == yaml.AliasNode, *anchored || n.Anchor != ""
	for _, child := range n.Content {
		count(child, nodes, has, anchored)
	}
}
