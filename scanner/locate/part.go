package locate

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/preadmit/preadmit/render/origin"
)

// maxTexts bounds the texts of a question that other values are made of.
const maxTexts = 24

// Part reports which part of the text at path, one of the paths that Fields returns,
// has to change for the validation to hold, or to turn on other fields. Other
// values are tried: made of the texts of the expression, its variables and the
// params, of examples for those that are patterns, and of usual ones. Whole means
// that either part does, or that there is no telling.
func (f *Finder) Part(q Question, path string) (part origin.Part) {
	defer func() {
		if recover() != nil {
			part = origin.Whole
		}
	}()
	text, ok := valueAt(q.subject(), path).(string)
	if !ok || text == "" {
		return origin.Whole
	}
	alternatives := nameAlternatives
	if path == "image" || strings.HasSuffix(path, ".image") {
		alternatives = imageAlternatives
	}
	fronts, backs := alternatives(text, f.texts(&q))
	turns := func(values []string) bool {
		return slices.ContainsFunc(values, func(v string) bool { return f.turns(q, path, v) })
	}
	front, back := turns(fronts), turns(backs)
	switch {
	case front && !back:
		return origin.Front
	case back && !front:
		return origin.Back
	}
	return origin.Whole
}

// IsList reports whether there is a list at path.
func IsList(q Question, path string) bool {
	_, ok := valueAt(q.subject(), path).([]any)
	return ok
}

// IsEmpty reports whether a map at a path is empty or not there.
func IsEmpty(q Question, path string) bool {
	switch v := valueAt(q.subject(), path).(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// Lacks reports whether the validation would hold with an element more in the list
// at path, or with the keys of the element in the map that is empty there. The API server
// leaves out both when they are empty.
func (f *Finder) Lacks(q Question, path string, element any) (lacks bool) {
	defer func() {
		if recover() != nil {
			lacks = false
		}
	}()
	value := valueAt(q.subject(), path)
	if keys, ok := element.(map[string]any); ok && IsEmpty(q, path) && f.turns(q, path, keys) {
		return true
	}
	list, ok := value.([]any)
	return (ok || value == nil) && f.turns(q, path, append(slices.Clone(list), element))
}

// turns reports whether the validation holds with another value at a place, or fails
// for fields elsewhere.
func (f *Finder) turns(q Question, place string, value any) bool {
	changed, ok := replaced(q.subject(), "", place, value).(map[string]any)
	if !ok {
		return false
	}
	if q.Object != nil {
		q.Object = changed
	} else {
		q.OldObject = changed
	}
	v := newRun(f, &q).text(q.Expression)
	return v.is(true) || v.is(false) && !slices.ContainsFunc(ranked(v.reads()), func(other string) bool {
		return path{text: other}.within(path{text: place})
	})
}

// subject is the object that paths are of.
func (q *Question) subject() map[string]any {
	if q.Object != nil {
		return q.Object
	}
	return q.OldObject
}

func valueAt(object map[string]any, path string) any {
	value, _ := origin.Field(object, path)
	return value
}

// replaced is a copy of a value, which lies at place, with another one at path.
func replaced(v any, place, path string, by any) any {
	return change(v, place, path, func(any) any { return by })
}

// change copies a value as far as path leads into it, and changes what lies there, or adds
// the last field of it.
func change(v any, place, target string, to func(any) any) any {
	if place == target {
		return to(v)
	}
	inside := func(p *path) bool { return path{text: target}.within(*p) }
	at := &path{text: place}
	switch v := v.(type) {
	case map[string]any:
		for key, old := range v {
			if p := at.child(types.String(key)); inside(p) {
				out := make(map[string]any, len(v))
				for k := range v {
					out[k] = v[k]
				}
				out[key] = change(old, p.text, target, to)
				return out
			}
		}
		if steps := origin.ParsePath(target); len(steps) > 0 { // a field that is not there
			if last := steps[len(steps)-1].Key; at.child(types.String(last)).text == target {
				out := maps.Clone(v)
				out[last] = to(nil)
				return out
			}
		}
	case []any:
		for i, old := range v {
			if p := at.child(types.Int(i)); inside(p) {
				out := slices.Clone(v)
				out[i] = change(old, p.text, target, to)
				return out
			}
		}
	}
	return v
}

// texts are the texts that the validation knows: those of its expressions and of
// the params, and examples for patterns.
func (f *Finder) texts(q *Question) []string {
	var all []string
	add := func(text string) {
		if text != "" && len(all) < maxTexts && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	for _, expression := range append([]string{q.Expression}, sortedValues(q.Variables)...) {
		if e := f.parse(expression); e != nil {
			ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
				if isConstant(e) {
					if s, ok := e.AsLiteral().(types.String); ok {
						add(string(s))
						add(exampleOf(string(s)))
					}
				}
			}))
		}
	}
	eachText(q.Params, add)
	return all
}

func sortedValues(m map[string]string) []string {
	var out []string
	for _, v := range m {
		out = append(out, v)
	}
	slices.Sort(out)
	return out
}

// eachText goes through the texts in a value, in the order of keys.
func eachText(v any, visit func(string)) {
	switch v := v.(type) {
	case string:
		visit(v)
	case []any:
		for _, item := range v {
			eachText(item, visit)
		}
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			eachText(v[k], visit)
		}
	}
}
