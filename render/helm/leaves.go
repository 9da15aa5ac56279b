package helm

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"helm.sh/helm/v4/pkg/chart/common"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/helm/values"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// layer is where a value of a release is set.
type layer int

const (
	// ofRelease: in spec.values.
	ofRelease layer = iota
	// ofReference: in a ConfigMap or Secret of valuesFrom.
	ofReference
	// ofChart: in the values.yaml of the chart.
	ofChart
)

// leaf is a scalar among the values of a release.
type leaf struct {
	path  []any
	value any
	layer layer
	// reference is the one that sets it, of ofReference.
	reference int
}

// text is the value as it appears in an object.
func (l *leaf) text() string { return textOf(l.value) }

func textOf(v any) string {
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
func (l *leaf) key() string {
	for _, step := range slices.Backward(l.path) {
		if key, ok := step.(string); ok {
			return key
		}
	}
	return ""
}

// maxLeaves bounds how many values are looked at.
const maxLeaves = 20_000

// leaves are all scalars among the values, those of the release first.
func (in *installed) leaves() ([]*leaf, error) {
	h, err := release.ParseHelmRelease(in.root.Unit.Object)
	if err != nil {
		return nil, err
	}
	user, err := in.values(h, leftOut)
	if err != nil {
		return nil, err
	}
	var all []*leaf
	walk(user, nil, func(path []any, value any) {
		l := &leaf{path: slices.Clone(path), value: value, layer: ofReference, reference: -1}
		if _, ok := at(h.Spec.Values, path); ok {
			l.layer = ofRelease
		}
		for i, r := range in.root.Unit.Release.References {
			if in.sets(r, path, value) {
				l.reference = i
				if r.TargetPath != "" {
					l.layer = ofReference
				}
			}
		}
		all = append(all, l)
	})
	walk(in.chart.chart.Values, nil, func(path []any, value any) {
		if _, ok := at(user, path); !ok {
			all = append(all, &leaf{path: slices.Clone(path), value: value, layer: ofChart})
		}
	})
	return all[:min(len(all), maxLeaves)], nil
}

// sets reports whether a reference sets a value.
func (in *installed) sets(r render.Reference, path []any, value any) bool {
	if r.TargetPath != "" {
		return dottedPath(path) == strings.NewReplacer("[", ".", "]", "").Replace(r.TargetPath)
	}
	parsed, err := common.ReadValues([]byte(r.Data))
	if err != nil {
		return false
	}
	found, ok := at(map[string]any(parsed), path)
	return ok && textOf(found) == textOf(value)
}

func dottedPath(path []any) string {
	var parts []string
	for _, step := range path {
		parts = append(parts, fmt.Sprint(step))
	}
	return strings.Join(parts, ".")
}

// walk visits scalars in the order of their keys.
func walk(v any, path []any, visit func(path []any, value any)) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(keysOf(v)) {
			walk(v[key], append(path, key), visit)
		}
	case common.Values:
		walk(map[string]any(v), path, visit)
	case []any:
		for i, item := range v {
			walk(item, append(path, i), visit)
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

// at is what a path leads to.
func at(v any, path []any) (any, bool) {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, ok := v.(map[string]any)
			if !ok {
				return nil, false
			}
			if v, ok = m[step]; !ok {
				return nil, false
			}
		case int:
			list, ok := v.([]any)
			if !ok || step >= len(list) {
				return nil, false
			}
			v = list[step]
		}
	}
	return v, true
}

// with returns values in which a leaf has another value.
func (l *leaf) with(user, defaults map[string]any, value any) map[string]any {
	made := chart.CopyValues(user)
	if made == nil {
		made = map[string]any{}
	}
	if l.layer == ofChart { // lists are replaced as a whole
		for i, step := range l.path {
			if _, isIndex := step.(int); isIndex {
				if list, ok := at(defaults, l.path[:i]); ok {
					copied := chart.CopyValues(map[string]any{"list": list})["list"]
					put(made, l.path[:i], copied)
				}
				break
			}
		}
	}
	put(made, l.path, value)
	return made
}

func put(v any, path []any, value any) {
	for i, step := range path {
		last := i == len(path)-1
		switch step := step.(type) {
		case string:
			m, ok := v.(map[string]any)
			if !ok {
				return
			}
			if last {
				m[step] = value
				return
			}
			if m[step] == nil {
				m[step] = map[string]any{}
			}
			v = m[step]
		case int:
			list, ok := v.([]any)
			if !ok || step >= len(list) {
				return
			}
			if last {
				list[step] = value
				return
			}
			v = list[step]
		}
	}
}

// other is another value of the same form.
func (l *leaf) other() any {
	switch v := l.value.(type) {
	case bool:
		return !v
	case float64:
		return v + 1
	case int64:
		return v + 1
	case int:
		return v + 1
	case string:
		if v != "" && strings.Trim(v, "0123456789") == "" {
			return v[:len(v)-1] + string('0'+(v[len(v)-1]-'0'+1)%10)
		}
		return v + "x"
	}
	return "x"
}

// values are the merged values of the user of the chart.
func (in *installed) values(h *release.HelmRelease, unknown func() (string, bool)) (map[string]any, error) {
	var references []values.Reference
	for _, from := range in.root.Unit.Release.References {
		data := from.Data
		if from.Unknown != "" {
			text, ok := unknown()
			if !ok || from.TargetPath == "" {
				continue
			}
			data = text
		}
		references = append(references, values.Reference{
			Name: from.Object.String(), Data: []byte(data), TargetPath: from.TargetPath, Literal: from.Literal,
		})
	}
	user, err := h.Values(references)
	if err != nil {
		return nil, &release.Problem{Message: err.Error()}
	}
	return user, nil
}

// written is where the value of a leaf is written in the tree, and what is known of that; ok is
// false for one that the tree does not have.
func (l *leaf) written(in *installed) (place origin.Place, ok bool) {
	u := in.root.Unit
	switch l.layer {
	case ofRelease:
		o, err := in.origins(u.Parent, u.Index)
		if err != nil {
			return place, false
		}
		place = o.Place(fieldOf("spec.values", l.path), origin.Whole)
		return place, place.Found()
	case ofReference:
		return l.inReference(in)
	case ofChart:
		if u.Artifact != nil {
			return place, false
		}
		files := []string{path.Join(in.root.Dir, "values.yaml")}
		if len(u.Release.ValuesFiles) > 0 {
			files = nil
			for _, name := range u.Release.ValuesFiles {
				files = append(files, path.Join(u.Checkout.Top, path.Clean("/" + name)[1:]))
			}
		}
		for _, name := range slices.Backward(files) { // the last that sets it
			data, err := in.tree.Read(in.tree.RealOr(name))
			if err != nil {
				continue
			}
			if line, column := lineOf(data, l.path); line > 0 {
				return origin.Place{Position: tree.Position{Path: name, Line: line, Column: column}, Evidence: origin.Marked}, true
			}
		}
	}
	return place, false
}

// defaultLine is the line of a value in the values.yaml of the chart; 0 when it is not there.
func (in *installed) defaultLine(of []any) (line, column int) {
	data, err := inChart(in.chart.chart.Chart, "values.yaml")
	if err != nil {
		return 0, 0
	}
	return lineOf(data, of)
}

// lineOf is where what a path leads to is written in YAML.
func lineOf(data []byte, of []any) (line, column int) {
	var doc yaml.Node
	if yaml.Unmarshal(data, &doc) != nil || len(doc.Content) == 0 {
		return 0, 0
	}
	n := doc.Content[0]
	for _, step := range of {
		_, value := origin.Child(n, step)
		if value == nil {
			return 0, 0
		}
		n = value
	}
	return n.Line, n.Column
}

// inReference is where a leaf is written in a ConfigMap or Secret.
func (l *leaf) inReference(in *installed) (place origin.Place, ok bool) {
	if l.reference < 0 {
		return place, false
	}
	r := in.root.Unit.Release.References[l.reference]
	o, err := in.origins(r.Written.Root, r.Written.Index)
	if err != nil {
		return place, false
	}
	place = o.Place(r.Written.Path, origin.Whole)
	if !place.Found() || r.TargetPath != "" {
		return place, place.Found()
	}
	line, column := lineOf([]byte(r.Data), l.path)
	data, err := in.tree.Read(in.tree.RealOr(place.Path))
	if line == 0 || err != nil {
		return place, true
	}
	if bytes.Equal(bytes.TrimSpace(data), bytes.TrimSpace([]byte(r.Data))) { // a generator took the file
		place.Position = tree.Position{Path: place.Path, Line: line, Column: column}
		return place, true
	}
	lines := strings.Split(string(data), "\n")
	if place.Line < 1 || place.Line >= len(lines) || !strings.Contains(lines[place.Line-1], "|") {
		return place, true
	}
	place.Position = tree.Position{Path: place.Path, Line: place.Line + line, Column: column + origin.IndentAt(lines, place.Line+1)}
	return place, true
}

// fieldOf is a path as a field.
func fieldOf(prefix string, path []any) string {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			prefix = origin.AppendKey(prefix, step)
		case int:
			prefix = fmt.Sprintf("%s[%d]", prefix, step)
		}
	}
	return prefix
}

// clue is what is known of a field before values are tried.
type clue struct {
	field string
	keys  []string
	text  string
	found bool
	// template is the text of the template line, if it is known, and around are the lines with
	// the conditions and loops that it is in.
	template, around string
}

// rank says how likely it is that a leaf decides a field; 0 when it is not worth a try.
func (c clue) rank(l *leaf) int {
	rank := 0
	switch text := l.text(); {
	case text == c.text && text != "":
		rank += 8
	case len(text) > 2 && strings.Contains(c.text, text):
		rank += 5
	case len(c.text) > 2 && strings.Contains(text, c.text):
		rank += 4
	}
	key := l.key()
	switch named := mentions(c.template, key); {
	case rank == 0 && !named && !mentions(c.around, key):
		return 0
	case named:
		rank += 5
	case mentions(c.around, key):
		rank += 4
	}
	if len(c.keys) > 0 && strings.EqualFold(key, c.keys[len(c.keys)-1]) {
		rank += 6
	}
	for _, step := range l.path {
		if name, ok := step.(string); ok && slices.ContainsFunc(c.keys, func(k string) bool { return strings.EqualFold(k, name) }) {
			rank++
		}
	}
	if l.layer == ofChart {
		rank--
	}
	return max(rank, 0)
}

// mentions reports whether the text of a template has a field with a key.
func mentions(text, key string) bool {
	for {
		i := strings.Index(text, "."+key)
		if i < 0 || key == "" {
			return false
		}
		text = text[i+1+len(key):]
		if text == "" || !isWord(text[0]) {
			return true
		}
	}
}

func isWord(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// block is an action that begins or ends a block.
var block = regexp.MustCompile(`\{\{-?\s*(if|with|range|define|block|else|end)\b[^}]*`)

// around returns the actions around a line of a template: those of the blocks that it is in.
func around(lines []string, line int) string {
	var open []string
	for _, text := range lines[:min(max(line-1, 0), len(lines))] {
		for _, found := range block.FindAllStringSubmatch(text, -1) {
			switch found[1] {
			case "end":
				open = open[:max(len(open)-1, 0)]
			case "else":
				if len(open) > 0 {
					open[len(open)-1] += " " + found[0]
				}
			default:
				open = append(open, found[0])
			}
		}
	}
	return strings.Join(open, "\n")
}

// candidates are the leaves to try, the most likely first.
func (c clue) candidates(all []*leaf) []*leaf {
	type ranked struct {
		*leaf
		rank int
	}
	var found []ranked
	for _, l := range all {
		if rank := c.rank(l); rank >= 4 {
			found = append(found, ranked{l, rank})
		}
	}
	slices.SortStableFunc(found, func(a, b ranked) int { return cmp.Compare(b.rank, a.rank) })
	var out []*leaf
	for _, f := range found {
		out = append(out, f.leaf)
	}
	return out
}
