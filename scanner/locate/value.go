package locate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// value is a CEL value with its provenance.
type value struct {
	// val is never nil; an error is a *types.Err.
	val ref.Val
	// at is the place of the value in the object, also if it is absent there; nil for a computed
	// value.
	at *path
	// why are the fields to change for another value.
	why fields
	// items are the elements of a computed list, entries the values of a computed map by string
	// key, inner the content of an optional.
	items   []value
	entries map[string]value
	inner   *value
	// itemReads are the fields that the items depend on, computed on first use: a list may contain
	// another many times.
	itemReads *fields
	// fewer and more are the fields to change to make a selected list or its size smaller and
	// larger; nil if why has all of them.
	fewer, more fields
}

// located returns a value of the object or, if place is nil, one that depends on base.
func located(val ref.Val, place *path, base fields) value {
	if place != nil {
		return value{val: val, at: place, why: at(place)}
	}
	return value{val: val, why: base}
}

// failed returns an error.
func failed(message string, why fields) value {
	return value{val: types.NewErr("%s", message), why: why}
}

func (v value) isError() bool { return types.IsUnknownOrError(v.val) }

// is reports whether v is the boolean b.
func (v value) is(b bool) bool {
	got, ok := v.val.(types.Bool)
	return ok && bool(got) == b
}

// because returns v with more fields that it depends on, after its own.
func (v value) because(why fields) value {
	v.why = union(v.why, why)
	return v
}

// reads returns all fields that v and its parts depend on.
func (v value) reads() fields {
	all := v.why
	if v.itemReads != nil {
		if *v.itemReads == nil {
			*v.itemReads = readsOf(v.items).known()
		}
		all = union(all, *v.itemReads)
	}
	if v.inner != nil {
		all = union(all, v.inner.reads())
	}
	return all
}

// readsOf returns the fields that several values depend on.
func readsOf(values []value) fields {
	var all fields
	for _, v := range values {
		if len(all) >= maxFields {
			break
		}
		all = union(all, v.reads())
	}
	return all
}

// element is the subject of one round of a loop: an index and an element of a list, or a key and a
// value of a map.
type element struct{ key, val value }

// place returns the place of an element, or else the fields that its list depends on.
func (e element) place(list value) fields {
	if e.val.at != nil {
		return at(e.val.at)
	}
	return union(e.val.why, list.why)
}

// elements returns the elements of a list or map, at most limit; ok is false if v is neither.
func (v value) elements(limit int) (all []element, isMap, ok bool) {
	switch val := v.val.(type) {
	case traits.Mapper:
		for _, key := range sortedKeys(val, limit) {
			place := v.at.child(key)
			all = append(all, element{located(key, place, v.why), v.entry(val, key, place)})
		}
		return all, true, true
	case traits.Lister:
		size, _ := val.Size().(types.Int)
		for i := types.Int(0); i < size && len(all) < limit; i++ {
			all = append(all, element{value{val: i}, v.item(val, i)})
		}
		return all, false, true
	}
	return nil, false, false
}

// sortedKeys returns the keys of a map in a fixed order.
func sortedKeys(m traits.Mapper, limit int) []ref.Val {
	var keys []ref.Val
	for it := m.Iterator(); it.HasNext() == types.True && len(keys) < limit; {
		keys = append(keys, it.Next())
	}
	slices.SortFunc(keys, func(a, b ref.Val) int {
		return strings.Compare(fmt.Sprint(a.Value()), fmt.Sprint(b.Value()))
	})
	return keys
}

func (v value) entry(m traits.Mapper, key ref.Val, place *path) value {
	if name, ok := key.(types.String); ok {
		if known, ok := v.entries[string(name)]; ok {
			return known
		}
	}
	found, _ := m.Find(key)
	return located(found, place, v.why)
}

func (v value) item(l traits.Lister, i types.Int) value {
	if v.items != nil && int(i) < len(v.items) {
		return v.items[i]
	}
	return located(l.Get(i), v.at.child(i), v.why)
}

// listOf returns a computed list of items; why are fields that it depends on in addition to those
// of its items.
func listOf(items []value, why fields) value {
	vals := make([]ref.Val, len(items))
	for i, item := range items {
		if item.isError() {
			return item
		}
		vals[i] = item.val
	}
	if items == nil {
		items = []value{}
	}
	return value{val: types.DefaultTypeAdapter.NativeToValue(vals), items: items, itemReads: new(fields), why: why}
}

// some returns an optional that holds v.
func some(v value) value {
	if v.isError() {
		return v
	}
	return value{val: types.OptionalOf(v.val), at: v.at, why: v.why, inner: &v}
}

// none returns an empty optional for an absent value at place.
func none(place *path, why fields) value {
	v := located(types.OptionalNone, place, why)
	return v
}
