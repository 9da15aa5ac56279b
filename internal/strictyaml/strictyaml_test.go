package strictyaml

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// level is a type with its own notation.
type level int

func (l *level) UnmarshalText(text []byte) error {
	if string(text) != "low" {
		return fmt.Errorf("want low, not %q", text)
	}
	*l = 1
	return nil
}

type settings struct {
	Name  string            `json:"name"`
	On    *bool             `json:"on,omitempty"`
	Count int32             `json:"count,omitempty"`
	Level level             `json:"level,omitempty"`
	Words []string          `json:"words,omitempty"`
	Pairs map[string]string `json:"pairs,omitempty"`
	Inner []settings        `json:"inner,omitempty"`
}

func TestDecode(t *testing.T) {
	yes := true
	tests := []struct {
		name, in string
		want     settings
	}{
		{"empty", "# nothing\n", settings{}},
		{"all", "name: yes\non: true\ncount: 0x10\nlevel: low\nwords: [a, '1']\npairs: {a: b}\ninner:\n- name: b\n",
			settings{Name: "yes", On: &yes, Count: 16, Level: 1, Words: []string{"a", "1"}, Pairs: map[string]string{"a": "b"}, Inner: []settings{{Name: "b"}}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got settings
			d, err := Parse("s.yaml", []byte(test.in))
			if err == nil {
				err = d.Decode(&got)
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeMistakes(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"syntax", "name: [\n", "2:1: not valid YAML: did not find expected node content"},
		{"scanner", "name: a\n\tb: c\n", "2:1: not valid YAML: found a tab character that violates indentation"},
		{"two documents", "name: a\n---\nname: b\n", "2:1: a second YAML document: the file must be one document"},
		{"no mapping", "- a\n", "1:1: want a mapping, not a list"},
		{"unknown key", "nmae: a\n", "1:1: nmae: unknown key (did you mean name?)"},
		{"nothing near", "x: a\n", "1:1: x: unknown key, known are name, on, count, level, words, pairs, inner"},
		{"repeated key", "name: a\non: true\nname: b\n", "3:1: name: repeated key, first on line 1"},
		{"repeated key of a map", "pairs: {a: b, a: c}\n", "1:15: pairs.a: repeated key, first on line 1"},
		{"alias", "name: &a b\nwords: [*a]\n", "2:9: words[0]: aliases are not supported here: write the value out"},
		{"merge key", "inner: [{name: a, <<: {}}]\n", "1:19: inner[0].<<: unknown key, known are name, on, count, level, words, pairs, inner"},
		{"nothing for a string", "name:\n", "1:6: name: want a string, not nothing"},
		{"nothing for a list", "words:\n", "1:7: words: want a list, not nothing"},
		{"number for a string", "name: 1\n", "1:7: name: want a string, not the number 1 (quote it)"},
		{"boolean for a string", "words: [true]\n", "1:9: words[0]: want a string, not the boolean true (quote it)"},
		{"date for a string", "name: 2001-01-01\n", "1:7: name: want a string, not a timestamp (quote it)"},
		{"list for a string", "name: []\n", "1:7: name: want a string, not a list"},
		{"string for a boolean", "on: 'true'\n", `1:5: on: want true or false, not the string "true"`},
		{"boolean for a number", "count: true\n", "1:8: count: want a whole number, not the boolean true"},
		{"fraction", "count: 1.5\n", "1:8: count: want a whole number, not the number 1.5"},
		{"number that is too large", "count: 4294967296\n", "1:8: count: want a whole number, not the number 4294967296"},
		{"text", "level: high\n", `1:8: level: want low, not "high"`},
		{"no text", "level: [low]\n", "1:8: level: want a value, not a list"},
		{"number for a list", "words: 1\n", "1:8: words: want a list, not the number 1"},
		{"list for a map", "pairs: [a]\n", "1:8: pairs: want a mapping, not a list"},
		{"several, in order", "words: [1]\nname: 2\nx: 3\n", "1:9: words[0]: want a string, not the number 1 (quote it)\n" +
			"s.yaml:2:7: name: want a string, not the number 2 (quote it)\n" +
			"s.yaml:3:1: x: unknown key, known are name, on, count, level, words, pairs, inner"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d, err := Parse("s.yaml", []byte(test.in))
			if err == nil {
				err = d.Decode(&settings{})
			}
			if err == nil {
				t.Fatalf("no error, want %s", test.want)
			}
			if diff := cmp.Diff("s.yaml:"+test.want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if want := strings.Count(test.want, "\n") + 1; len(Errors(err)) != want {
				t.Errorf("%d errors, want %d", len(Errors(err)), want)
			}
		})
	}
}

type manifest struct {
	Name    string         `json:"name"`
	Done    bool           `json:"done,omitempty"`
	Words   []string       `json:"words,omitempty"`
	Object  map[string]any `json:"object,omitempty"`
	Another *manifest      `json:"another,omitempty"`
}

func TestDecodeManifest(t *testing.T) {
	tests := []struct {
		name, in string
		want     manifest
	}{
		{"YAML 1.1", "object: {yes: no, k: 012}\ndone: on\n", manifest{Done: true, Object: map[string]any{"true": false, "k": 10.0}}},
		{"a plain y or n", "name: n\nwords: [N, &a y, *a]\nobject: {é: y, n: 'n', k: !!bool y, &b Y: {a: yes}, *b : 1, yn: y n}\n",
			manifest{Name: "n", Words: []string{"N", "y", "y"}, Object: map[string]any{"é": "y", "n": "n", "k": true, "Y": 1.0, "yn": "y n"}}},
		{"null", "name: a\nwords:\nobject: ~\nanother: null\n", manifest{Name: "a"}},
		{"alias", "name: &a b\nwords: [*a]\n", manifest{Name: "b", Words: []string{"b"}}},
		{"merge key", "name: a\nanother: &b {name: b}\nobject: {<<: *b, c: d}\n",
			manifest{Name: "a", Another: &manifest{Name: "b"}, Object: map[string]any{"name": "b", "c": "d"}}},
		{"merge key of a struct", "words: [a]\nanother: {<<: [{name: a}, {done: true}], words: [b]}\n",
			manifest{Words: []string{"a"}, Another: &manifest{Name: "a", Done: true, Words: []string{"b"}}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got manifest
			d, err := Parse("m.yaml", []byte(test.in))
			if err == nil {
				err = d.DecodeManifest(&got)
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeManifestMistakes(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"old boolean", "name: no\n", "1:7: name: want a string, not the boolean no (quote it)"},
		{"no object", "object: [a]\n", "1:9: object: want a Kubernetes object, not a list"},
		{"repeated key in an object", "object:\n  a:\n  - b: 1\n    b: 2\n", "4:5: object.b: repeated key, first on line 3"},
		{"unknown key of what is merged", "another: {<<: {nam: a}}\n", "1:16: another.nam: unknown key (did you mean name?)"},
		{"alias of itself", "words: &a [*a]\n", "1:1: not valid YAML: anchor 'a' value contains itself"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d, err := Parse("m.yaml", []byte(test.in))
			if err == nil {
				err = d.DecodeManifest(&manifest{})
			}
			if err == nil {
				t.Fatalf("no error, want %s", test.want)
			}
			if diff := cmp.Diff("m.yaml:"+test.want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestAliasesAreBounded checks that an expansion to a billion words is rejected quickly.
func TestAliasesAreBounded(t *testing.T) {
	var in strings.Builder
	in.WriteString("object:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 10; i++ {
		fmt.Fprintf(&in, "  a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	d, err := Parse("m.yaml", []byte(in.String()))
	if err == nil {
		err = d.DecodeManifest(&manifest{})
	}
	if err == nil || !strings.Contains(err.Error(), "excessive aliasing") {
		t.Errorf("error %v, want one of excessive aliasing", err)
	}
}

func TestParseAll(t *testing.T) {
	documents, err := ParseAll("m.yaml", []byte("# first\n---\nname: a\n---\n---\nname: 1\nname: b\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(documents) != 2 {
		t.Fatalf("%d documents, want 2", len(documents))
	}
	var got manifest
	if err := documents[0].DecodeManifest(&got); err != nil || got.Name != "a" || documents[0].Line("name") != 3 {
		t.Errorf("first document: %+v on line %d, error %v", got, documents[0].Line("name"), err)
	}
	want := "m.yaml:6:7: name: want a string, not the number 1 (quote it)\nm.yaml:7:1: name: repeated key, first on line 6"
	if err := documents[1].DecodeManifest(&got); err == nil || err.Error() != want {
		t.Errorf("error %v, want\n%s", err, want)
	}
	_, err = ParseAll("m.yaml", []byte("a: b\n---\na: [\n"))
	if err == nil || err.Error() != "m.yaml:4:1: not valid YAML: did not find expected node content" {
		t.Errorf("error %v", err)
	}
}

// TestParseAllLosesNoDocument checks that every document of a file is returned or refused, whatever separates it.
func TestParseAllLosesNoDocument(t *testing.T) {
	const dropped = "a second YAML document that kubectl would drop: end the line of its --- and the one before with a line feed"
	const after = "not valid YAML: did not find expected <document start>"
	for text, want := range map[string]string{
		"a: 1\n---\t\nb: 2":                "1 3",
		"a: 1\n---\t# x\nb: 2\n":           "1 3",
		"a: 1\r\n---\r\nb: 2\r\n":          "1 3",
		"a: 1\n--- \nb: 2\n":               "1 3",
		"a: 1\n---  # x\nb: 2\n---":        "1 3",
		"a: 1\n...\n---\nb: 2\n...\n":      "1 4",
		"a: |\n  ---\n  ...\nb: 2\n":       "1",
		"a: 1\n...\nb: 2":                  "m.yaml:3:1: " + after,
		"a: 1\n---\nb: 2\n... # x\nc: 3\n": "1\nm.yaml:5:1: " + after,
		"a: 1\r---\rb: 2\r":                "m.yaml:2:1: " + dropped,
		"a: 1\u2028---\u2028b: 2\n":        "m.yaml:2:1: " + dropped,
		"---\ra: 1\r---\r---\rb: 2":        "m.yaml:4:1: " + dropped,
	} {
		documents, err := ParseAll("m.yaml", []byte(text))
		var lines []string
		for _, d := range documents {
			lines = append(lines, fmt.Sprint(d.offset+d.top.Line))
		}
		got := strings.Join(lines, " ")
		if err != nil {
			got = strings.TrimPrefix(got+"\n"+err.Error(), "\n")
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestLettersAfterOtherLineEnds checks that a plain y stays a string after any character that ends a line for YAML.
func TestLettersAfterOtherLineEnds(t *testing.T) {
	for _, end := range []string{"\n", "\r", "\r\n", "\u0085", "\u2028", "\u2029"} {
		documents, err := ParseAll("m.yaml", []byte("words: ["+end+" a,"+end+"]"+end+"name: y\n"))
		if err != nil || len(documents) != 1 {
			t.Fatalf("%q: %d documents, error %v", end, len(documents), err)
		}
		var got manifest
		if err := documents[0].DecodeManifest(&got); err != nil || got.Name != "y" {
			t.Errorf("%q: the name %q, error %v; want y", end, got.Name, err)
		}
	}
}

// TestFail checks that a mistake in an absent field is reported at its nearest ancestor in the
// document.
func TestFail(t *testing.T) {
	d, err := Parse("s.yaml", []byte("name: a\ninner:\n- name: b\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Decode(&settings{}); err != nil {
		t.Fatal(err)
	}
	d.Fail("inner[0].words[3]", "too few")
	d.Fail("inner[0].name", "too short: %q", "b")
	d.Fail("level", "required")
	want := "s.yaml:1:1: level: required\ns.yaml:3:3: inner[0].words[3]: too few\ns.yaml:3:9: inner[0].name: too short: \"b\""
	if got := d.Err(); got == nil || got.Error() != want {
		t.Errorf("error\n%v, want\n%s", got, want)
	}
	if !d.Failed("level") || d.Failed("inner[0].words") || !d.Has("inner[0]") || d.Has("level") {
		t.Error("Failed or Has is wrong")
	}
	if located := new(Error); !errors.As(d.Err(), &located) {
		t.Errorf("%T holds no *Error", d.Err())
	}
}

// FuzzDecode checks that no content makes the decoder panic, and that errors have a position.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"name: a\n", "inner: [{<<: [{name: a}]}]\n", "a: &a [*a]\n", "? [a]\n: b\n", "!x {name: !y 1}\n", "---\n---\n", "name: |\n  ---\n"} {
		f.Add(seed)
	}
	check := func(t *testing.T, err error) {
		for _, e := range Errors(err) {
			if e.Line < 1 || e.Column < 1 {
				t.Errorf("%v has no place", e)
			}
		}
	}
	f.Fuzz(func(t *testing.T, in string) {
		if d, err := Parse("s.yaml", []byte(in)); err == nil {
			check(t, d.Decode(&settings{}))
		}
		documents, err := ParseAll("m.yaml", []byte(in))
		check(t, err)
		for _, d := range documents {
			check(t, d.DecodeManifest(&manifest{}))
		}
	})
}
