package proof

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/preadmit/preadmit/render/tree"
)

// TestScalarChanges checks the text written instead of a scalar, for each form of a scalar. M is the marker.
func TestScalarChanges(t *testing.T) {
	tests := map[string]struct {
		text         string
		line, column int
		target       string
		want         []string
	}{
		"plain":                {"a: text\n", 1, 4, "text", []string{"a: textM\n"}},
		"with a comment":       {"a: text # text\n", 1, 4, "text", []string{"a: textM # text\n"}},
		"behind its anchor":    {"a: &x !!str text\n", 1, 4, "text", []string{"a: &x !!str textM\n"}},
		"carriage return":      {"a: text\r\n", 1, 4, "text", []string{"a: textM\r\n"}},
		"flow":                 {"{a: one, b: one}\n", 1, 5, "one", []string{"{a: oneM, b: one}\n"}},
		"part in flow":         {"{a: one, b: one-two}\n", 1, 5, "one-two", []string{"{a: oneM, b: one-two}\n"}},
		"block text with flow": {"a: one, two\n", 1, 4, "two", []string{"a: one, twoM\n"}},
		"single quotes":        {"a: 'it''s' # 's\n", 1, 4, "it's", []string{"a: 'itM''s' # 's\n"}},
		"double quotes":        {`a: "x\"y\\"` + "\n", 1, 4, `x"y\`, []string{`a: "x\"yM\\"` + "\n"}},
		"empty quotes":         {`a: ""` + "\n", 1, 4, "", []string{`a: "M"` + "\n"}},
		"nothing":              {"a:\n", 1, 3, "", []string{"a: M\n"}},
		"null":                 {"a: null\n", 1, 4, "", []string{"a: M\n"}},
		"number":               {"a: 80\n", 1, 4, "80", []string{"a: 807\n"}},
		"zero":                 {"a: 0\n", 1, 4, "0", []string{"a: 7\n"}},
		"octal":                {"{a: 0644, b: 1}\n", 1, 5, "420", []string{"{a: 06447, b: 1}\n"}},
		"fraction":             {"a: -1.5 # b\n", 1, 4, "-1.5", []string{"a: -1.57 # b\n"}},
		"boolean":              {"a: True\n", 1, 4, "true", []string{"a: false\n"}},
		"quoted number":        {"a: '80'\n", 1, 4, "80", []string{"a: '80M'\n"}},
		"literal block":        {"a: |-\n\n  first\n  second\n", 1, 4, "\nfirst\nsecond", []string{"a: |-\n\n  firstM\n  second\n"}},
		"folded block":         {"- >\n  first\n  second\n", 1, 3, "first second\n", []string{"- >\n  firstM\n  second\n"}},
		"several lines":        {"a: first\n  second\n", 1, 4, "first second", []string{"a: firstM\n  second\n"}},
		"key and value":        {"- k=k\n", 1, 3, "k", []string{"- kM=k\n", "- k=kM\n"}},
		"quotes inside":        {"- k=\"v\"\n", 1, 3, "v", []string{"- k=\"vM\"\n"}},
		"name before a tag":    {"a: web:1.0\n", 1, 4, "web", []string{"a: webM:1.0\n"}},
		"nothing in common":    {"a: text\n", 1, 4, "XYZ", []string{"a: Mtext\n"}},
		"wide letters":         {"ä: größe\n", 1, 4, "größe", []string{"ä: größeM\n"}},
		"a mapping":            {"a: {b: c}\n", 1, 4, "x", nil},
		"an alias":             {"a: *b\n", 1, 4, "x", nil},
		"between words":        {"a: text\n", 1, 3, "text", nil},
		"no such column":       {"a: text\n", 1, 40, "text", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := sourceFile{path: "f", data: []byte(tt.text), marker: "M"}
			changes, why := f.withScalar(tree.Position{Path: "f", Line: tt.line, Column: tt.column}, []string{tt.target})
			var got []string
			for _, c := range changes {
				got = append(got, string(c.data))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", why, diff)
			}
			if (why == "") != (len(got) > 0) {
				t.Errorf("%d changes, and why not: %q", len(got), why)
			}
		})
	}
}

// TestEntryChanges checks the entries added to collections.
func TestEntryChanges(t *testing.T) {
	const entry = `"M": "M"`
	tests := map[string]struct {
		text         string
		line, column int
		want         string
	}{
		"mapping":              {"a:\n  b: c\n", 1, 1, "a:\n  " + entry + "\n  b: c\n"},
		"behind a comment":     {"a: # x\n  # y\n\n  b: c\n", 1, 1, "a: # x\n  # y\n\n  " + entry + "\n  b: c\n"},
		"in flow style":        {"a: {b: c}\n", 1, 1, "a: {" + entry + ", b: c}\n"},
		"empty":                {"a: {}\n", 1, 1, "a: {" + entry + "}\n"},
		"list of texts":        {"a:\n- b\n", 1, 1, "a:\n- M\n- b\n"},
		"list of mappings":     {"a:\n  -   b: c\n", 1, 1, "a:\n  -   " + entry + "\n      b: c\n"},
		"list in flow style":   {"a: [b]\n", 1, 1, `a: ["M", b]` + "\n"},
		"mappings in a list":   {"a: [{b: c}]\n", 1, 1, "a: [{" + entry + ", b: c}]\n"},
		"an empty list":        {"a: []\n", 1, 1, `a: ["M"]` + "\n"},
		"element of a list":    {"- b: c\n  d: e\n", 1, 3, "- " + entry + "\n  b: c\n  d: e\n"},
		"JSON":                 {`{"a": {"b": 1}}`, 1, 2, `{"a": {` + entry + `, "b": 1}}`},
		"element in one line":  {"a: [{b: c}]\n", 1, 5, "a: [{" + entry + ", b: c}]\n"},
		"neither list nor map": {"a: b\n", 1, 4, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := sourceFile{path: "f", data: []byte(tt.text), marker: "M"}
			changes, why := f.withEntry(tree.Position{Path: "f", Line: tt.line, Column: tt.column})
			got := ""
			if len(changes) > 0 {
				got = string(changes[0].data)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", why, diff)
			}
		})
	}
}

// TestUndone checks that the removal at a line of the file is undone, where YAML's parser counts more lines.
func TestUndone(t *testing.T) {
	for _, comment := range []string{"# a\n", "# a\u2028\u2028\n"} {
		got, ok := undone(comment+"x:\n  y: null\n  z: 1\n", 3, 3)
		if !strings.HasSuffix(got, "\nx:\n    z: 1\n") || !ok {
			t.Errorf("%q: %q, %v", comment, got, ok)
		}
	}
}
