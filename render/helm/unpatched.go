package helm

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/preadmit/preadmit/render/helm/locate"
	"github.com/preadmit/preadmit/render/origin"
)

// plainContent returns the object as it is without post-renderers; nil if it does not exist.
func (o *traced) plainContent() map[string]any {
	was := o.result.Objects[o.index]
	kind, name := was.KindAndName()
	for _, now := range o.withoutPostRenderers() {
		if k, n := now.KindAndName(); k == kind && (n == name || now.Index == o.index) {
			return now.Content()
		}
	}
	return nil
}

// unpatched returns the path of a field in the object without post-renderers, which may insert items into
// lists. added is set for a field in something that they add: it is the innermost existing field on the path.
func (o *traced) unpatched(field string) (was, added string) {
	if len(o.release.Spec.PostRenderers) == 0 {
		return field, ""
	}
	plain := o.plainContent()
	text, in, isText := origin.CutText(field)
	if plain == nil {
		return field, ""
	}
	if was, added = unpatched(text, o.result.Objects[o.index].Content(), plain); isText {
		was = origin.InText(was, in)
	}
	return was, added
}

func unpatched(field string, after, before any) (was, added string) {
	at := ""
	for steps := origin.ParsePath(field); len(steps) > 0; {
		next, used := origin.ValueAt(after, steps)
		if used == 0 { // a field missing after may exist before
			return was + strings.TrimPrefix(field, at), ""
		}
		if list, ok := after.([]any); ok {
			at = locate.FieldOf(at, []any{steps[0].Index})
			i := itemLike(list, steps[0].Index, before)
			if i < 0 {
				return was, nearest(at, next, steps[1:])
			}
			was, before = locate.FieldOf(was, []any{i}), before.([]any)[i]
		} else {
			key := keyOf(steps[:used])
			at, was = origin.AppendKey(at, key), origin.AppendKey(was, key)
			holder, _ := before.(map[string]any)
			value, ok := holder[key]
			if !ok {
				return was, nearest(at, next, steps[used:])
			}
			before = value
		}
		after, steps = next, steps[used:]
	}
	return was, ""
}

// nearest returns the innermost existing field on the path of steps, beginning at a field with a value.
func nearest(field string, value any, steps []origin.PathStep) string {
	for len(steps) > 0 {
		next, used := origin.ValueAt(value, steps)
		if used == 0 {
			break
		}
		if _, ok := value.([]any); ok {
			field = locate.FieldOf(field, []any{steps[0].Index})
		} else {
			field = origin.AppendKey(field, keyOf(steps[:used]))
		}
		value, steps = next, steps[used:]
	}
	return field
}

// keyOf returns the key that consists of several steps of a path.
func keyOf(steps []origin.PathStep) string {
	var parts []string
	for _, s := range steps {
		parts = append(parts, s.Key)
	}
	return strings.Join(parts, ".")
}

// itemKeys are the fields by which items of lists are identified, the best first.
var itemKeys = []string{"name", "mountPath", "containerPort", "port", "key", "host", "ip"}

// itemLike returns the index in another list of the item that matches an item of a list; -1 if there is none.
func itemLike(list []any, index int, other any) int {
	others, _ := other.([]any)
	item := list[index]
	if at := slices.IndexFunc(others, func(o any) bool { return reflect.DeepEqual(o, item) }); at >= 0 {
		if index < len(others) && reflect.DeepEqual(others[index], item) {
			return index // several may be equal
		}
		return at
	}
	content, _ := item.(map[string]any)
	for _, key := range itemKeys {
		if value, ok := content[key]; ok {
			return slices.IndexFunc(others, func(o any) bool {
				m, _ := o.(map[string]any)
				return m[key] == value
			})
		}
	}
	if len(others) == len(list) {
		return index
	}
	return -1
}

// lacking returns the place where a post-renderer adds the parent of a missing field: its key, the item of a
// list, or the value of an operation.
func (o *traced) lacking(added string) (origin.Place, bool) {
	if added == "" {
		return origin.Place{}, false
	}
	value, _ := origin.Field(o.result.Objects[o.index].Content(), added)
	field, depth := scalarIn(added, value)
	if depth == 0 {
		return origin.Place{}, false
	}
	scalar, _ := origin.Field(o.result.Objects[o.index].Content(), field)
	p := &patchedField{traced: o, field: field, value: scalar, found: true}
	e := p.entry()
	if e == nil || len(e.around) == 0 {
		return origin.Place{}, false
	}
	place := p.placeOf(e, e.around[max(len(e.around)-depth, 0)])
	return origin.Place{Position: place.Position, Evidence: origin.Nearest}, place.Found()
}

// scalarIn returns a scalar field at or below a field, and its depth below that; 0 if there is none.
func scalarIn(field string, value any) (scalar string, depth int) {
	inner := func(field string, value any) bool {
		if locate.IsScalar(value) {
			scalar, depth = field, 1
		} else if found, below := scalarIn(field, value); below > 0 {
			scalar, depth = found, below+1
		}
		return depth > 0
	}
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if inner(origin.AppendKey(field, key), v[key]) {
				return scalar, depth
			}
		}
	case []any:
		for i, item := range v {
			if inner(field+"["+strconv.Itoa(i)+"]", item) {
				return scalar, depth
			}
		}
	}
	return "", 0
}
