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

// TestMostKeys compares the bound of keys with the mappings of generated texts.
func TestMostKeys(t *testing.T) {
	parts := []string{"a: b\n", "a:\n", "'a': b\n", "a: b\n  ", "a: b\n  ", "a:\n  ", "- ", "- ", "-\t", "? ", "? ", "\n: ", ": ", "  ", "    ", "\n", "\n- ", "{", "}", "{a, ", "a: b, ", ", ",
		"a: b\nb: c\n", "a: b\n  b: c\n  c: d\n", "a: b\n    b: c\n", "?\n", "\"a\": ", "!t ", "&x ", "--- ", "|\n", "\t", "\r", "\u0085", "\u2028", "[", "]", "# c\n", "*x ", "a: b c\n    d\n"}
	found := 0
	for seed := range uint64(testall.Count(30_000, 1_000_000)) {
		r := rand.New(rand.NewPCG(seed, 4))
		var b strings.Builder
		for range 2 + r.IntN(9) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		text := b.String()
		decoder, keys := yaml.NewDecoder(strings.NewReader(text)), 0
		for {
			var node yaml.Node
			if decoder.Decode(&node) != nil {
				break
			}
			keys = max(keys, largest(&node))
		}
		if most := mostKeys([]byte(text)); keys > most {
			t.Fatalf("a mapping of %d keys in %q, said to have %d at most", keys, text, most)
		}
		if keys > 2 {
			found++
		}
	}
	if found < 300 {
		t.Errorf("%d mappings have more than 2 keys: too few", found)
	}
	if wide := strings.Repeat("- ", 1000); mostKeys([]byte(wide)) < 1000 {
		t.Error("a document with many columns is said to have few keys")
	}
}

// largest returns the number of keys of the largest mapping in a node.
func largest(n *yaml.Node) int {
	keys := 0
	if n.Kind == yaml.MappingNode {
		keys = len(n.Content) / 2
	}
	for _, child := range n.Content {
		keys = max(keys, largest(child))
	}
	return keys
}

func count(n *yaml.Node, nodes *int, has, anchored *bool) {
	*nodes++
	*has, *anchored = *has || n.Kind == yaml.AliasNode, *anchored || n.Anchor != ""
	for _, child := range n.Content {
		count(child, nodes, has, anchored)
	}
}
