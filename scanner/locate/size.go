package locate

import (
	"slices"

	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/traits"
)

func isComparison(name string) bool {
	return slices.Contains([]string{
		operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals,
		operators.Greater, operators.GreaterEquals,
	}, name)
}

// size evaluates size(). For a selected list the result depends on the elements that were selected,
// or on those that were not.
func (r *run) size(of value, member bool) value {
	v := r.apply(signature{name: "size", member: member, args: 1}, []value{of})
	if of.items == nil || v.isError() {
		return v
	}
	v.fewer, v.more = of.shrinkage(), of.growth()
	v.why = union(v.fewer, v.more)
	if n, ok := v.val.(types.Int); ok && n == 0 {
		v.why = v.more
	}
	return v
}

// shrinkage returns the fields that could make a list shorter.
func (v value) shrinkage() fields {
	if v.fewer != nil {
		return v.fewer
	}
	return v.why
}

// compare evaluates a comparison. For sizes the result depends on the fields that change them in
// the needed direction.
func (r *run) compare(name string, a, b value) value {
	v := r.apply(signature{name: name, args: 2}, []value{a, b})
	if v.isError() || a.more == nil && b.more == nil {
		return v
	}
	switch order, ok := compared(a, b); {
	case !ok:
	case order > 0:
		v.why = union(a.shrinkage(), b.growth())
	case order < 0:
		v.why = union(a.growth(), b.shrinkage())
	default:
		v.why = atEqual(name, a, b)
	}
	return v
}

// atEqual returns the fields that change the result of comparing equal sizes.
func atEqual(name string, a, b value) fields {
	smaller := union(a.shrinkage(), b.growth())
	larger := union(a.growth(), b.shrinkage())
	switch name {
	case operators.Less, operators.GreaterEquals:
		return smaller
	case operators.Greater, operators.LessEquals:
		return larger
	}
	return union(smaller, larger)
}

func compared(a, b value) (order int64, ok bool) {
	comparer, ok := a.val.(traits.Comparer)
	if !ok {
		return 0, false
	}
	got, ok := comparer.Compare(b.val).(types.Int)
	return int64(got), ok
}

func bothLists(a, b value) bool {
	_, ok := a.val.(traits.Lister)
	_, too := b.val.(traits.Lister)
	return ok && too
}

// concat evaluates the concatenation of two lists; elements keep their places.
func (r *run) concat(a, b value) value {
	if r.spent() {
		return tooMuchWork
	}
	left, _, _ := a.elements(maxSteps)
	right, _, _ := b.elements(maxSteps)
	if r.steps += len(left) + len(right); r.spent() {
		return tooMuchWork
	}
	items := make([]value, 0, len(left)+len(right))
	for _, e := range slices.Concat(left, right) {
		items = append(items, e.val)
	}
	list := listOf(items, union(a.why, b.why))
	list.fewer, list.more = union(a.shrinkage(), b.shrinkage()), union(a.growth(), b.growth())
	return list
}
