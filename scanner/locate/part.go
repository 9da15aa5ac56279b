package locate

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/preadmit/preadmit/render/origin"
)

// maxTexts is the maximum number of texts from which other values are made.
const maxTexts = 24

// Part returns the part of the text at path, one of the paths that Fields returns, that has to
// change for the validation to hold or to fail because of other fields. It tries other values: made
// from texts of the expression, its variables and the params, from examples for patterns, and
// common ones. Whole means that changing either part is enough, or that the part cannot be
// determined.
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
	changesResult := func(values []string) bool {
		return slices.ContainsFunc(values, func(v string) bool { return f.changesResult(q, path, v) })
	}
	front, back := changesResult(fronts), changesResult(backs)
	switch {
	case front && !back:
		return origin.Front
	case back && !front:
		return origin.Back
	}
	return origin.Whole
}

// IsList reports whether the value at path is a list.
func IsList(q Question, path string) bool {
	_, ok := valueAt(q.subject(), path).([]any)
	return ok
}

// IsEmpty reports whether a map at a path is empty or absent.
func IsEmpty(q Question, path string) bool {
	switch v := valueAt(q.subject(), path).(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// Lacks reports whether the validation would hold with one more element in the list at path, or
// with the element's keys in the empty map there. The API server omits empty lists and maps, so
// they may be absent.
func (f *Finder) Lacks(q Question, path string, element any) (lacks bool) {
	defer func() {
		if recover() != nil {
			lacks = false
		}
	}()
	value := valueAt(q.subject(), path)
	if keys, ok := element.(map[string]any); ok && IsEmpty(q, path) && f.changesResult(q, path, keys) {
		return true
	}
	list, ok := value.([]any)
	return (ok || value == nil) && f.changesResult(q, path, append(slices.Clone(list), element))
}

// changesResult reports whether the validation holds with another value at a place, or fails because of
// fields elsewhere.
func (f *Finder) changesResult(q Question, place string, value any) bool {
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

// subject returns the object that paths refer to.
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

// replaced returns a copy of v, which is at place, with the value at path replaced.
func replaced(v any, place, path string, by any) any {
	return change(v, place, path, func(any) any { return by })
}

// change returns a copy of v with the value at target changed, or added if only its last field is
// absent. It copies only the containers along the path.
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
		if steps := origin.ParsePath(target); len(steps) > 0 { // the last field is absent
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

// texts returns the texts in the validation's expressions and params, and examples for patterns.
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

// eachText calls visit for the texts in a value, in the order of keys.
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
