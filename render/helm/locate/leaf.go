package locate

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"helm.sh/helm/v4/pkg/chart/common"

	"github.com/preadmit/preadmit/render/helm/chart"
)

// Leaf is a scalar among the values of a release.
type Leaf struct {
	Path  []any
	Value any
	// Default is set for a value that only the chart itself sets.
	Default bool
	// Builtin is set for what templates know of the release or the chart, by a path as .Release.Name.
	Builtin bool

	// above is how many steps above it what is looked for is: a mapping or list that has it. 0 is the leaf itself.
	above int
	// read are the ways to read it, once they were asked for.
	read []readWay
}

// waysToRead are those of the path.
func (l *Leaf) waysToRead() []readWay {
	if l.read == nil {
		l.read = waysToRead(l.Path)
	}
	return l.read
}

// Where is the path of what is looked for: of the leaf, or of a mapping or list that has it.
func (l *Leaf) Where() []any { return l.Path[:len(l.Path)-l.above] }

// LineIn is where that is written in YAML: the key of a mapping or list.
func (l *Leaf) LineIn(data []byte) (line, column int) { return lineIn(parsed(data), l.Path, l.above) }

// text is the value as it appears in an object.
func (l *Leaf) text() string { return Text(l.Value) }

// writes reports whether a text has the value in it.
func (l *Leaf) writes(text string) bool { return l.text() != "" && strings.Contains(text, l.text()) }

// Text is a value as it appears in an object.
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

// key is the last key of the path.
func (l *Leaf) key() string {
	for _, step := range slices.Backward(l.Path) {
		if key, ok := step.(string); ok {
			return key
		}
	}
	return ""
}

// maxLeaves bounds how many values are looked at.
const maxLeaves = 20_000

// LeavesOf are all scalars among the values, those of the user first.
func LeavesOf(user, defaults map[string]any) []*Leaf {
	return leavesOf(user, defaults, func(any) bool { return false })
}

// leavesOf are also mappings and lists that are taken as they are.
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

// walk visits scalars, and what is taken whole, in the order of their keys.
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
	if l.Default { // lists are replaced as a whole
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

// others are other values of the same form.
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

// otherTexts are a text that is longer at both ends, of which templates may cut one off, and one with another digit, which a
// quantity or a version may have; of a number another one. Of several lines it is first one that is still YAML.
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

// otherEntries is a text of YAML with other values at its keys, but for the kind of an object.
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
