package helm

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/origin"
)

// removals returns the items that entries of post-renderers remove from a list, found by applying the
// post-renderers without the entry.
func (o *traced) removals(list string) (out []origin.Removal) {
	if _, _, isText := origin.CutText(list); isText || len(o.release.Spec.PostRenderers) == 0 {
		return nil
	}
	value, found := origin.Field(o.result.Objects[o.index].Content(), list)
	now, isList := value.([]any)
	if found && !isList {
		return nil
	}
	made := o.tracer.tracer.Objects[o.index]
	for _, e := range o.takers(list) {
		items, _ := o.without(made, e, list).([]any)
		for _, item := range items {
			if !slices.ContainsFunc(now, func(there any) bool { return reflect.DeepEqual(there, item) }) {
				p := &patchedField{traced: o}
				out = append(out, origin.Removal{Element: item, Position: p.placeOf(e, e.in).Position})
			}
		}
	}
	return out
}

// takers returns the entries that may remove items of a list: `$patch` in one of its items, and operations
// that remove one.
func (o *traced) takers(list string) (all []*postEntry) {
	steps := origin.ParsePath(list)
	key := steps[len(steps)-1].Key
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.entries == nil {
		o.entries = entriesOf(o.release)
	}
	for _, e := range o.entries {
		_, err := strconv.Atoi(e.key)
		if e.removes && (strings.EqualFold(e.key, key) || err == nil) && len(all) < fieldEntries {
			all = append(all, e)
		}
	}
	return all
}

// without returns a field of an object as the post-renderers make it without an entry.
func (o *traced) without(made *release.Object, e *postEntry, field string) any {
	o.mu.Lock()
	defer o.mu.Unlock()
	after, ok := o.try(e)
	if !ok {
		return nil
	}
	again := o.again(made, after)
	if len(again) != 1 {
		return nil
	}
	value, _ := origin.Field((&render.Object{JSON: again[0].JSON}).Content(), field)
	return value
}
