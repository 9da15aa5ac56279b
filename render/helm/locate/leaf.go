package locate

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"helm.sh/helm/v4/pkg/chart/common"

	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/tree"
)

// Leaf is a scalar among the values of a release.
type Leaf struct {
	Path  []any
	Value any
	// Default is set for a value that only the chart itself sets.
	Default bool
	// Builtin is set for fields of the release or the chart that templates see, with a path as in
	// .Release.Name.
	Builtin bool

	// above is how many steps above the leaf the mapping or list is whose place is wanted; 0 for the leaf
	// itself.
	above int
	// read are the ways to read it, set on first use.
	read []readWay
}

// waysToRead returns the ways to read the leaf.
func (l *Leaf) waysToRead() []readWay {
	if l.read == nil {
		l.read = waysToRead(l.Path)
	}
	return l.read
}

// Where returns the path of the leaf, or of the mapping or list above it whose place is wanted.
func (l *Leaf) Where() []any { return l.Path[:len(l.Path)-l.above] }

// LineIn returns the position in YAML of the value at Where: for a mapping or list, of its key.
func (l *Leaf) LineIn(data []byte) (line, column int) {
	return lineIn(tree.ParseFile(data), l.Path, l.above)
}

// text returns the value as it appears in an object.
func (l *Leaf) text() string { return Text(l.Value) }

// writes reports whether a text contains the value.
func (l *Leaf) writes(text string) bool { return l.text() != "" && strings.Contains(text, l.text()) }

// Text returns a value as it appears in an object.
func Text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		if v == float64(int64(v)) {
			return fmt.Sprint(int64(v))
		}
	}
	return fmt.Sprint(v)
}

// key returns the last key of the path.
func (l *Leaf) key() string {
	for _, step := range slices.Backward(l.Path) {
		if key, ok := step.(string); ok {
			return key
		}
	}
	return ""
}

// maxLeaves limits the number of values.
const maxLeaves = 20_000

// LeavesOf returns all scalars among the values, those of the user first.
func LeavesOf(user, defaults map[string]any) []*Leaf {
	return leavesOf(user, defaults, func(any) bool { return false })
}

// leavesOf returns all scalars, and the mappings and lists that whole accepts, with their contents as one
// value.
func leavesOf(user, defaults map[string]any, whole func(any) bool) []*Leaf {
	var all []*Leaf
	walk(user, nil, whole, func(path []any, value any) {
		all = append(all, &Leaf{Path: slices.Clone(path), Value: value})
	})
	walk(defaults, nil, whole, func(path []any, value any) {
		if _, ok := chart.At(user, path); !ok {
			all = append(all, &Leaf{Path: slices.Clone(path), Value: value, Default: true})
		}
	})
	return all[:min(len(all), maxLeaves)]
}

// walk visits the scalars and the values that whole accepts, in the order of their keys.
func walk(v any, path []any, whole func(any) bool, visit func(path []any, value any)) {
	if whole(v) {
		visit(path, v)
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(keysOf(v)) {
			walk(v[key], append(path, key), whole, visit)
		}
	case common.Values:
		walk(map[string]any(v), path, whole, visit)
	case []any:
		for i, item := range v {
			walk(item, append(path, i), whole, visit)
		}
	default:
		visit(path, v)
	}
}

func keysOf(m map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for key := range m {
			if !yield(key) {
				return
			}
		}
	}
}

// with returns values in which a leaf has another value.
func (l *Leaf) with(user, defaults map[string]any, value any) map[string]any {
	made := chart.CopyValues(user)
	if made == nil {
		made = map[string]any{}
	}
	if l.Default { // merging replaces a whole list
		for i, step := range l.Path {
			if _, isIndex := step.(int); isIndex {
				if list, ok := chart.At(defaults, l.Path[:i]); ok {
					copied := chart.CopyValues(map[string]any{"list": list})["list"]
					chart.Put(made, l.Path[:i], copied)
				}
				break
			}
		}
	}
	chart.Put(made, l.Path, value)
	return made
}

// isKey reports whether a leaf is the value of a key, and not an element of a list.
func (l *Leaf) isKey() bool {
	_, ok := l.Path[len(l.Path)-1].(string)
	return ok
}

// others returns other values of the same form.
func (l *Leaf) others() []any {
	switch v := l.Value.(type) {
	case bool:
		return []any{!v}
	case float64:
		return []any{v + 1, v - 1}
	case int64:
		return []any{v + 1, v - 1}
	case int:
		return []any{v + 1, v - 1}
	case string:
		return otherTexts(v)
	}
	return []any{"x"}
}

// otherTexts returns a text that is longer at both ends, as templates may cut one off, and a text with another
// digit, for quantities and versions; for a number only another number. For several lines the first text is
// still YAML.
func otherTexts(v string) (all []any) {
	longer := v + "x"
	if strings.Contains(v, "\n") {
		if entries := otherEntries(v); entries != v {
			all = append(all, entries)
		}
	} else if r, _ := utf8.DecodeRuneInString(v); unicode.IsLetter(r) {
		longer = "x" + longer
	}
	last := strings.LastIndexAny(v, "0123456789")
	if last < 0 {
		return append(all, longer)
	}
	counted := v[:last] + string('0'+(v[last]-'0'+1)%10) + v[last+1:]
	if strings.Trim(v, "0123456789") == "" {
		return []any{counted}
	}
	return append(all, longer, counted)
}

// otherEntries returns a YAML text with other values at its keys, except kind and apiVersion.
func otherEntries(v string) string {
	lines := strings.Split(v, "\n")
	for i, line := range lines {
		key, value, _ := strings.Cut(line, ": ")
		if name := strings.Trim(key, " \t-\"'"); name == "kind" || name == "apiVersion" {
			continue
		}
		begin := strings.TrimLeft(value, " \"'")
		if r, _ := utf8.DecodeRuneInString(begin); unicode.IsLetter(r) || unicode.IsDigit(r) || strings.HasPrefix(begin, "{{") {
			lines[i] = line[:len(line)-len(begin)] + "x" + begin
		}
	}
	return strings.Join(lines, "\n")
}
