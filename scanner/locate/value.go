package locate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// value is a CEL value that knows where it comes from.
type value struct {
	// val is never nil; an error is a *types.Err.
	val ref.Val
	// at is where in the object the value lies, or would lie; nil for what an
	// expression made.
	at *path
	// why are the fields to change to make it another value.
	why fields
	// items are the elements of a list an expression made, entries the values of
	// such a map by string key, inner the content of an optional.
	items   []value
	entries map[string]value
	inner   *value
	// itemReads are the fields the items depend on, nil until they are first needed: a
	// list may hold another many times.
	itemReads *fields
	// fewer and more are, of a list an expression selected and of its size, the
	// fields to change to make it smaller and larger; nil when why says it all.
	fewer, more fields
}

// located is a value of the object, or one that depends on what base depends on.
func located(val ref.Val, place *path, base fields) value {
	if place != nil {
		return value{val: val, at: place, why: at(place)}
	}
	return value{val: val, why: base}
}

// failed is an error.
func failed(message string, why fields) value {
	return value{val: types.NewErr("%s", message), why: why}
}

func (v value) isError() bool { return types.IsUnknownOrError(v.val) }

// is reports whether v is a boolean of that value.
func (v value) is(b bool) bool {
	got, ok := v.val.(types.Bool)
	return ok && bool(got) == b
}

// because adds fields v depends on after its own.
func (v value) because(why fields) value {
	v.why = union(v.why, why)
	return v
}

// reads are all fields v depends on, with those of its parts.
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

// readsOf are the fields several values depend on.
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

// element is what one round of a loop is about: of a list an index and an element,
// of a map a key and its value.
type element struct{ key, val value }

// place is where an element lies, else the fields its list depends on.
func (e element) place(list value) fields {
	if e.val.at != nil {
		return at(e.val.at)
	}
	return union(e.val.why, list.why)
}

// elements are those of a list or map, at most limit; ok is false when v is neither.
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

// sortedKeys are the keys of a map in an order that is always the same.
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

// listOf is a list that an expression made of items; why are fields it depends on
// beside those of its items.
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

// some is an optional that holds v.
func some(v value) value {
	if v.isError() {
		return v
	}
	return value{val: types.OptionalOf(v.val), at: v.at, why: v.why, inner: &v}
}

// none is an empty optional of what would lie at place.
func none(place *path, why fields) value {
	v := located(types.OptionalNone, place, why)
	return v
}
