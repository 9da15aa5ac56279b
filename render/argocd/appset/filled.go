package appset

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render/helm/engine"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// maxTried is the maximum number of parameters that are tried for a field.
const maxTried = 16

// filling is a Go template of an ApplicationSet that was executed for an Application.
type filling struct {
	*Generated
	raw  string
	file *engine.File
	// used is what that cost.
	used engine.Used
}

// filling executes a template again; it returns nil if the text is not the same.
func (g *Generated) filling(raw, filled string) *filling {
	if !g.set.Spec.GoTemplate || !strings.Contains(raw, "{{") {
		return nil
	}
	if file, used := g.fill(raw, g.params.values, engine.Used{}); file != nil && file.Text == filled {
		return &filling{g, raw, file, used}
	}
	return nil
}

// fill executes a template with parameters; it returns nil for an error. used is what is not available to it of the
// limits.
func (g *Generated) fill(raw string, values map[string]any, used engine.Used) (*engine.File, engine.Used) {
	filler := &generator{set: g.set, ctx: context.Background(), engine: g.set.engine(), used: used}
	file, err := filler.filled(raw, values, g.set.Spec.GoTemplateOptions)
	if err != nil {
		return nil, filler.used
	}
	return file, filler.used
}

// changed executes the template with changed parameters, at twice the cost of the first time at most; it returns nil for
// an error.
func (f *filling) changed(values map[string]any) *engine.File {
	file, _ := f.fill(f.raw, values, engine.Used{Steps: max(maxSteps-2*f.used.Steps-100, 0), Work: max(maxWork-2*f.used.Work-1<<16, 0)})
	return file
}

// places returns where a field of the text may be written, the likeliest place first. at is the place of the template.
func (f *filling) places(field string, at place) []place {
	n, pos, ok := fieldIn(f.file.Text, field)
	if !ok {
		return []place{at}
	}
	line, literal := f.written(pos, n)
	at.line, at.within, at.key, at.text = line, f.raw, field, false
	if literal || n.Kind != yaml.ScalarNode {
		return []place{at}
	}
	return append(f.decisive(n.Value, func(text string) (string, bool) {
		other, _, ok := fieldIn(text, field)
		return valueOr(other), ok
	}), at)
}

func valueOr(n *yaml.Node) string {
	if n == nil {
		return ""
	}
	return n.Value
}

// fieldIn returns a field of a YAML text and its position in the text.
func fieldIn(text, field string) (n *yaml.Node, at tree.Position, ok bool) {
	outer, inner, inText := origin.CutText(field)
	hops, complete := origin.Descend(tree.ParseFile([]byte(text)), origin.ParsePath(outer))
	if !complete || len(hops) == 0 {
		return nil, at, false
	}
	n = origin.Unalias(hops[len(hops)-1].Value)
	at = tree.Position{Line: n.Line, Column: n.Column}
	if !inText {
		return n, at, true
	}
	spelling := origin.SpellingOf(n, strings.Split(text, "\n"))
	n, in, ok := fieldIn(n.Value, inner)
	if !ok || spelling == nil {
		return nil, at, false
	}
	at, ok = spelling.Place(in.Line, in.Column)
	return n, at, ok
}

// written returns the line of the template that wrote the value at a position of the text, and whether that line has
// the whole value.
func (f *filling) written(at tree.Position, n *yaml.Node) (line int, literal bool) {
	text := f.file.Text
	offset := 0
	for range at.Line - 1 {
		offset += strings.IndexByte(text[offset:], '\n') + 1
	}
	offset += len(string([]rune(text[offset:])[:at.Column-1]))
	end := min(offset+max(len(n.Value), 1), len(text))
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
		end = min(end+1, len(text))
	}
	literal = true
	for ; offset < end; offset++ {
		trace := f.file.At(offset)
		if len(trace.Places) == 0 {
			continue
		}
		if line == 0 {
			line = trace.Places[0].Line
		}
		literal = literal && trace.Places[0].Literal
	}
	return line, literal
}

// decisive returns the place of the parameter that decides a value: the only one with which the value changes. of
// returns the value in a text. Parameters whose text is in the value come first.
func (f *filling) decisive(value string, of func(text string) (string, bool)) []place {
	var likely, others []leaf
	for _, l := range leavesOf(f.params.values) {
		if l.text != "" && strings.Contains(strings.ToLower(value), strings.ToLower(l.text)) {
			likely = append(likely, l)
		} else {
			others = append(others, l)
		}
	}
	for _, leaves := range [][]leaf{likely, others} {
		var found []string
		for _, l := range leaves[:min(len(leaves), maxTried)] {
			values, _ := changedAt(f.params.values, l.path).(map[string]any)
			file := f.changed(values)
			if file == nil {
				continue
			}
			if now, ok := of(file.Text); ok && now != value {
				found = append(found, l.name)
			}
		}
		if len(found) > 0 {
			if len(found) > 1 {
				return nil
			}
			return f.parameter(found[0])
		}
	}
	return nil
}

// leaf is a parameter without parts.
type leaf struct {
	path []any
	// name is the path in the syntax of a field.
	name, text string
}

// leavesOf returns the leaves of parameters.
func leavesOf(values map[string]any) (all []leaf) {
	var walk func(value any, path []any, name string)
	walk = func(value any, path []any, name string) {
		switch v := value.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				walk(v[key], append(slices.Clone(path), key), origin.AppendKey(name, key))
			}
		case []any:
			for i, item := range v {
				walk(item, append(slices.Clone(path), i), fmt.Sprintf("%s[%d]", name, i))
			}
		default:
			all = append(all, leaf{path, name, fmt.Sprint(value)})
		}
	}
	walk(values, nil, "")
	return all
}

// changedAt returns a copy of parameters with another value for a leaf.
func changedAt(value any, path []any) any {
	switch v := value.(type) {
	case map[string]any:
		out := maps.Clone(v)
		key := path[0].(string)
		out[key] = changedAt(v[key], path[1:])
		return out
	case []any:
		out := slices.Clone(v)
		i := path[0].(int)
		out[i] = changedAt(v[i], path[1:])
		return out
	case bool:
		return !v
	case float64:
		return v + 1
	case int64:
		return v + 1
	case int:
		return v + 1
	}
	return fmt.Sprint(value) + "xqzj"
}
