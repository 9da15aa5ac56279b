package text

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestFollow checks that the word HERE of a value is found in its YAML.
func TestFollow(t *testing.T) {
	tests := map[string]string{
		"plain":                       "a: b + HERE\n",
		"plain over lines":            "a: b +\n  c +\n  HERE\n",
		"single quotes":               "a: 'it''s ''quoted'' HERE'\n",
		"double quotes":               `a: "say \"x\" \\ and\n HERE"` + "\n",
		"double quotes over lines":    "a: \"x \\\n   y\n\n   HERE\"\n",
		"literal":                     "a: |\n  x\n\n    y\n  HERE\n",
		"literal, stripped":           "a: |-\n  HERE",
		"literal with an indentation": "a: |2\n    x\n  HERE\n",
		"folded":                      "a: >\n  x\n  y\n\n    z\n  HERE\n",
		"in a flow":                   "a: {b: 'c HERE'}\n",
		"wide characters":             "a: \"äöü 世界 HERE\"\n",
		"a comment between":           "a: # about HERE\n  b HERE\n",
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			var document yaml.Node
			if err := yaml.Unmarshal([]byte(text), &document); err != nil {
				t.Fatal(err)
			}
			value := document.Content[0].Content[1]
			if value.Kind == yaml.MappingNode {
				value = value.Content[1]
			}
			lines := strings.Split(text, "\n")
			offset := len([]rune(value.Value[:strings.LastIndex(value.Value, "HERE")]))
			at, ok := Follow(lines, Spot{value.Line - 1, value.Column - 1}, []rune(value.Value), offset)
			if !ok || !strings.HasPrefix(string([]rune(lines[at.Line])[at.Column:]), "HERE") {
				t.Errorf("Follow gives %v, %v in %q", at, ok, lines)
			}
		})
	}
}

// TestFollowGivesUp checks values that differ from the text, or whose notation is not supported:
// they have no place.
func TestFollowGivesUp(t *testing.T) {
	tests := []struct {
		name, text, value string
	}{
		{"another value", "a: b c", "x c"},
		{"an escape by number", `a: "\u0062 c"`, "b c"},
		{"a file that ends", "a: |", "b"},
		{"no such column", "", "b"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			value := []rune(test.value)
			if at, ok := Follow([]string{test.text}, Spot{0, 3}, value, len(value)-1); ok {
				t.Errorf("Follow gives %v", at)
			}
		})
	}
}

func FuzzFollow(f *testing.F) {
	f.Add("a: |\n  b c", "b c", 0, 3, 2)
	f.Add(`"\n\"x`, "\n\"x", 0, 0, 1)
	f.Fuzz(func(t *testing.T, text, value string, line, column, offset int) {
		lines := strings.Split(text, "\n")
		at, ok := Follow(lines, Spot{line, column}, []rune(value), offset)
		if ok && (at.Line < 0 || at.Line >= len(lines) || at.Column < 0 || at.Column > len([]rune(lines[at.Line]))) {
			t.Errorf("Follow gives %v of %q", at, lines)
		}
	})
}

func TestTextAt(t *testing.T) {
	content := map[string]any{"spec": map[string]any{"list": []any{map[string]any{"x": "found"}, 7}}}
	tests := []struct {
		field, want string
		ok          bool
	}{
		{"spec.list[0].x", "found", true},
		{"spec.list[1]", "", false},
		{"spec.list[2].x", "", false},
		{"spec.list[x].x", "", false},
		{"spec.list", "", false},
		{"spec.none.x", "", false},
	}
	for _, test := range tests {
		if got, ok := At(content, test.field); got != test.want || ok != test.ok {
			t.Errorf("At(%q) = %q, %v; want %q, %v", test.field, got, ok, test.want, test.ok)
		}
	}
}
