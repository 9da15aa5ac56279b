package origin_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// TestSpelling finds the characters of texts in each style.
func TestSpelling(t *testing.T) {
	for _, text := range []string{
		"a: |\n  one\n  two\n",
		"a: |-\n  one\n\n   two # no comment\n\n",
		"a: |+ # a comment\n  one\n\n\n",
		"a: |2\n    one\n  two\n",
		"b:\n- c: d\n  a: |2-\n      one\n    two\n",
		"b:\n  - - a: >1\n        one\n       two\n",
		"a: >\n  one\n  two\n\n  three\n",
		"a: >-\n  one\n    two\n    three\n  four\n\n    five\n\n\n  six\n",
		"a: >+\n\n  one\n\n",
		"a: >-\r\n  one\r\n  two\r\n",
		"a: &x !!str |-\n  one\n",
		"a: 'it''s\n  two\n\n  three  four'\n",
		"a: \"one\\n  two\\t\\\"x\\\" \\x41\\u00e9\\U0001F600\\e\"\n",
		"a: \"one\\n\\\n  \\  two\\n\\\n\n  three\"\n",
		"a: \"one  \n\n   two \\\n   three\"\n",
		"b: {c: d, a: \"one\\ntwo\"}\n",
	} {
		t.Run(text, func(t *testing.T) { checkSpelling(t, text) })
	}
}

// TestSpellingOfAny finds the characters of texts of random characters.
func TestSpellingOfAny(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	texts := 0
	for range 20_000 {
		var text strings.Builder
		text.WriteString("a: " + []string{"|", "|-", "|+", ">", ">-", ">+", "\"", "'"}[r.IntN(8)])
		if first := text.String()[3]; first == '|' || first == '>' {
			text.WriteString("\n")
		}
		for range r.IntN(12) {
			text.WriteString([]string{"a", "é", " ", "\n", "\n  ", "\n   ", ": ", "\\n", "\\\n", "''", "\t", "#"}[r.IntN(12)])
		}
		if quote := text.String()[3]; quote == '"' || quote == '\'' {
			text.WriteByte(quote)
		}
		if yaml.Unmarshal([]byte(text.String()), new(yaml.Node)) == nil {
			texts++
			checkSpelling(t, text.String())
		}
	}
	if texts < 2_000 {
		t.Errorf("only %d texts were YAML", texts)
	}
}

func checkSpelling(t *testing.T, text string) {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	n := find(doc.Content[0], "a")
	lines := strings.Split(text, "\n")
	if n.Value == "" || n.Kind != yaml.ScalarNode {
		return
	}
	s := origin.SpellingOf(n, lines)
	if s == nil {
		t.Errorf("%q: the text %q is not read", text, n.Value)
		return
	}
	line, column := 1, 1
	for _, c := range n.Value {
		at, ok := s.Place(line, column)
		if !ok || at.Line > len(lines) {
			t.Fatalf("%q: %d:%d is nowhere", text, line, column)
		}
		if file := []rune(lines[at.Line-1]); c > ' ' && at.Column <= len(file) && file[at.Column-1] != c && file[at.Column-1] != '\\' {
			t.Errorf("%q: %d:%d, which is %q, is at %s", text, line, column, c, at)
		}
		if column++; c == '\n' {
			line, column = line+1, 1
		}
	}
}

func find(n *yaml.Node, key string) *yaml.Node {
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && c.Value == key {
			return n.Content[i+1]
		}
		if found := find(c, key); found != nil {
			return found
		}
	}
	return nil
}

// TestInScalarOfRewrittenText finds lines of a folded text to which kustomize added line breaks.
func TestInScalarOfRewrittenText(t *testing.T) {
	lines := strings.Split("patch: >-\n  - op: add\n    path: /a\n    value: b\n", "\n")
	at := tree.Position{Path: "k.yaml", Line: 1, Column: 8}
	for _, text := range []string{"- op: add\n  path: /a\n  value: b", "- op: add\n\n  path: /a\n  value: b\n"} {
		line := strings.Count(text[:strings.Index(text, "value")], "\n") + 1
		got := origin.InScalar(lines, at, text, tree.Position{Line: line, Column: 10, EndLine: line, EndColumn: 11})
		if want := (tree.Position{Path: "k.yaml", Line: 4, Column: 12, EndLine: 4, EndColumn: 13}); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
	if got := origin.InScalar(lines, at, "- op: remove", tree.Position{Line: 1, Column: 3}); got != at {
		t.Errorf("another text is at %s", got)
	}
}

// TestInScalarOfLiteral finds columns of literal blocks whose first line is empty or indented further.
func TestInScalarOfLiteral(t *testing.T) {
	for text, file := range map[string]string{
		"\na: b\n":         "v: |\n\n  a: b\n",
		"  x: y\n  a: b\n": "v: |2\n    x: y\n    a: b\n",
		"x: y\na: ${b}\n":  "v: |\n  x: y\n  a: b\n", // it was changed since
	} {
		line := strings.Split(text, "\n")[1]
		in := tree.Position{Line: 2, Column: strings.Index(line, "a") + 4, EndLine: 2, EndColumn: strings.Index(line, "a") + 5}
		lines := strings.Split(file, "\n")
		column := strings.Index(lines[2], "b") + 1
		want := tree.Position{Path: "v.yaml", Line: 3, Column: column, EndLine: 3, EndColumn: column + 1}
		if got := origin.InScalar(lines, tree.Position{Path: "v.yaml", Line: 1, Column: 4}, text, in); got != want {
			t.Errorf("%q: %+v, want %+v", file, got, want)
		}
	}
}
