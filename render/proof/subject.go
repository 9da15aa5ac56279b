package proof

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
)

// subject is the object of a claim and its field before the change.
type subject struct {
	object  *render.Object
	index   int
	content map[string]any
	steps   []origin.PathStep
	value   any
	found   bool
}

func newSubject(objects []*render.Object, c Claim) subject {
	s := subject{object: objects[c.Object], index: c.Object, steps: origin.ParsePath(c.Field)}
	s.content = s.object.Content()
	s.value, s.found = origin.Field(s.content, c.Field)
	return s
}

func (s subject) scalar() bool {
	switch s.value.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

// textOf returns a scalar as text, "" for null.
func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	return fmt.Sprint(v)
}

// target returns the texts in which the claimed part of the value may be written.
func (s subject) target(c Claim) []string {
	text := portion(c, textOf(s.value))
	out := []string{strings.TrimLeft(text, ":@"), origin.ContentHash.ReplaceAllString(text, "")}
	if plain, ok := s.unpacked(text); ok {
		out = append([]string{plain}, out...)
	}
	return out
}

// portion returns the part of an image that a claim is about; other values whole.
func portion(c Claim, value string) string {
	name, version := origin.SplitImage(value)
	switch {
	case !strings.HasSuffix(c.Field, ".image"):
	case c.Part == origin.Front:
		return name
	case c.Part == origin.Back:
		return version
	}
	return value
}

// unpacked returns the text that a generator encoded in base64.
func (s subject) unpacked(value string) (string, bool) {
	if len(s.steps) < 2 || s.steps[0].Key != "binaryData" && (s.steps[0].Key != "data" || s.content["kind"] != "Secret") {
		return "", false
	}
	data, err := base64.StdEncoding.DecodeString(value)
	return string(data), err == nil
}

// compare checks whether the field became what a change implies.
func (s subject) compare(c Claim, now map[string]any, change change) Proof {
	value, found := alike{change.marker}.follow(s.content, now, s.steps)
	switch {
	case c.Place.Evidence == origin.Removed:
		return s.returned(c, value, found)
	case !found:
		return Proof{Refuted, "the field is gone in the changed tree"}
	case !s.scalar() && holdsMarker(value, change.marker):
		return Proof{Outcome: Confirmed}
	case !s.scalar():
		return Proof{Refuted, "what was added at the place is not in the field"}
	case s.became(c, textOf(value), change):
		return Proof{Outcome: Confirmed}
	case reflect.DeepEqual(s.value, value):
		return Proof{Refuted, "the field stays as it is when the place changes"}
	}
	return Proof{Refuted, fmt.Sprintf("the field becomes %q, which is not what the change implies", textOf(value))}
}

// became reports whether a scalar's new value is its old one with the change applied, or the newly written
// text.
func (s subject) became(c Claim, now string, change change) bool {
	old := textOf(s.value)
	if change.marker == "" {
		return now != old && (old == change.old && now == change.new ||
			change.old != "" && now == strings.ReplaceAll(old, change.old, change.new))
	}
	if now == change.new {
		return true
	}
	old, now = portion(c, old), portion(c, now)
	if plain, ok := s.unpacked(now); ok && strings.Contains(plain, change.marker) {
		was, _ := s.unpacked(old)
		return without(plain, change.marker) == was
	}
	if !strings.Contains(now, change.marker) {
		return false
	}
	back := without(now, change.marker)
	return back == old || origin.ContentHash.ReplaceAllString(back, "") == origin.ContentHash.ReplaceAllString(old, "")
}

func without(text, marker string) string {
	if marker == "" {
		return text
	}
	return strings.ReplaceAll(text, marker, "")
}

// returned checks whether the removed field, or element of the list, is back.
func (s subject) returned(c Claim, value any, found bool) Proof {
	if c.Element == nil {
		if found && !s.found {
			return Proof{Outcome: Confirmed}
		}
		return Proof{Refuted, "the field is not there without what is said to take it away"}
	}
	if s.hasAgain(c.Element, value) {
		return Proof{Outcome: Confirmed}
	}
	was, _ := s.value.([]any)
	now, _ := value.([]any)
	has := func(list []any) bool {
		return slices.ContainsFunc(list, func(e any) bool { return reflect.DeepEqual(e, c.Element) || sameKeys(e, c.Element) })
	}
	if has(now) && !has(was) {
		return Proof{Outcome: Confirmed}
	}
	return Proof{Refuted, "the element is not there without what is said to take it away"}
}

// hasAgain reports whether a map has the keys again that were removed from it.
func (s subject) hasAgain(keys, value any) bool {
	was, _ := s.value.(map[string]any)
	now, isMap := value.(map[string]any)
	taken, _ := keys.(map[string]any)
	for key := range taken {
		if _, ok := now[key]; !ok {
			return false
		}
	}
	return isMap && len(was) == 0
}

// holdsMarker reports whether the marker is an entry of a collection, or of an element of a list.
func holdsMarker(value any, marker string) bool {
	switch v := value.(type) {
	case map[string]any:
		_, ok := v[marker]
		return ok
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return e == marker || holdsMarker(e, marker) })
	}
	return false
}

// again finds the object among those of the changed tree, whatever the change did to its identity. An unknown
// kind gets a namespace, so the namespace is ignored if the object is not found otherwise.
func (s subject) again(was, now []*render.Object, marker string) *render.Object {
	same := alike{marker}
	if o := s.nth(was, now, same.identity); o != nil {
		return o
	}
	return s.nth(was, now, func(o *render.Object) string {
		kind, name := render.KindAndName(o.Content())
		return without(kind+"\x00"+origin.ContentHash.ReplaceAllString(name, ""), marker)
	})
}

// nth returns the object with the same identity; when there are several, the one with as many such objects
// before it. The object at the same index is tried first.
func (s subject) nth(was, now []*render.Object, identity func(*render.Object) string) *render.Object {
	id := identity(s.object)
	if s.index < len(now) && identity(now[s.index]) == id {
		return now[s.index]
	}
	before := 0
	for _, o := range was[:s.index] {
		if identity(o) == id {
			before++
		}
	}
	for _, o := range now {
		if identity(o) != id {
			continue
		}
		if before == 0 {
			return o
		}
		before--
	}
	return nil
}

// alike compares values before and after a change, ignoring its marker.
type alike struct{ marker string }

// identity returns the identity of an object, without the hash of its content.
func (a alike) identity(o *render.Object) string {
	var head struct {
		APIVersion, Kind string
		Metadata         struct{ Namespace, Name, GenerateName string }
	}
	_ = json.Unmarshal(o.JSON, &head) // cannot fail: this program encoded it
	name := origin.ContentHash.ReplaceAllString(without(head.Metadata.Name, a.marker), "")
	return without(strings.Join([]string{
		head.APIVersion, head.Kind, head.Metadata.Namespace, name, head.Metadata.GenerateName,
	}, "\x00"), a.marker)
}

// follow follows a field path in the changed value. In lists it follows the elements that match those before
// the change.
func (a alike) follow(was, now any, steps []origin.PathStep) (any, bool) {
	for len(steps) > 0 {
		next, used := origin.ValueAt(now, steps)
		old, ok := origin.ValueAt(was, steps)
		if list, isList := now.([]any); isList && ok > 0 {
			if i := a.element(list, old, steps[0].Index); i >= 0 {
				next, used = list[i], 1
			}
		}
		if used == 0 {
			return nil, false
		}
		was, now, steps = old, next, steps[used:]
	}
	return now, true
}

// element returns the index of the element that matches a previous one; elements with the marker are preferred
// to equal ones.
func (a alike) element(list []any, old any, index int) int {
	best := -1
	for i, e := range list {
		if !sameKeys(a.stripped(e), old) {
			continue
		}
		if best < 0 || i == index && !a.in(list[best]) || a.in(e) && !a.in(list[best]) {
			best = i
		}
	}
	return best
}

// stripped returns the merge keys of an element, without the marker.
func (a alike) stripped(e any) any {
	m, ok := e.(map[string]any)
	if !ok {
		return e
	}
	out := map[string]any{}
	for _, key := range origin.MergeKeys {
		if text, ok := m[key].(string); ok {
			out[key] = without(text, a.marker)
		} else if v, ok := m[key]; ok {
			out[key] = v
		}
	}
	return out
}

// in reports whether the marker is in the merge keys of an element.
func (a alike) in(e any) bool {
	return a.marker != "" && !reflect.DeepEqual(a.stripped(e), alike{}.stripped(e))
}

// sameKeys compares elements of lists by the merge keys that both have.
func sameKeys(a, b any) bool {
	x, ok := a.(map[string]any)
	y, also := b.(map[string]any)
	if !ok || !also {
		return false
	}
	same := false
	for _, key := range origin.MergeKeys {
		p, q := x[key], y[key]
		if p == nil || q == nil {
			continue
		}
		if same = reflect.DeepEqual(p, q); !same {
			return false
		}
	}
	return same
}
