package locate

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// selected evaluates `base.field`.
func (r *run) selected(e ast.SelectExpr, s *scope) value {
	if r.isVariables(e.Operand(), s) {
		return r.variable(e.FieldName())
	}
	return r.member(r.eval(e.Operand(), s), value{val: types.String(e.FieldName())})
}

// isVariables reports whether e is the identifier `variables` of the policy.
func (r *run) isVariables(e ast.Expr, s *scope) bool {
	if e.Kind() != ast.IdentKind || e.AsIdent() != "variables" {
		return false
	}
	_, local := s.find("variables")
	return !local
}

// has evaluates the macro has().
func (r *run) has(e ast.Expr, s *scope) value {
	if e.Kind() != ast.SelectKind {
		return failed("no field to test", nil)
	}
	sel := e.AsSelect()
	if r.isVariables(sel.Operand(), s) {
		_, ok := r.texts[sel.FieldName()]
		return value{val: types.Bool(ok)}
	}
	base := r.eval(sel.Operand(), s)
	if base.isError() {
		return base
	}
	v, found, why := r.find(base, value{val: types.String(sel.FieldName())})
	if !found {
		return value{val: types.False, why: why}
	}
	return value{val: types.True, why: v.why}
}

// member evaluates `base.key` or `base[key]`; for an optional base the result is optional.
func (r *run) member(base, key value) value {
	if _, ok := base.val.(*types.Optional); ok {
		return r.optionalMember(base, key)
	}
	if base.isError() {
		return base
	}
	if key.isError() {
		return key
	}
	v, found, why := r.find(base, key)
	if !found {
		return failed("no such key", why)
	}
	return v
}

// optionalMember evaluates `base.?key` or `base[?key]`.
func (r *run) optionalMember(base, key value) value {
	if _, ok := base.val.(*types.Optional); ok {
		if base.inner == nil {
			return none(base.at.child(key.val).missing(), union(base.why, key.why))
		}
		base = *base.inner
	}
	if base.isError() {
		return base
	}
	if key.isError() {
		return key
	}
	v, found, why := r.find(base, key)
	if !found {
		if place := base.at.child(key.val).missing(); place != nil {
			return none(place, nil).because(why)
		}
		return none(nil, why)
	}
	return some(v)
}

// find finds an entry of a map or an element of a list. If there is none, why has the fields that
// could add it.
func (r *run) find(base, key value) (v value, found bool, why fields) {
	place := base.at.child(key.val)
	switch val := base.val.(type) {
	case traits.Mapper:
		if !isKey(key.val) {
			break
		}
		if got, ok := val.Find(key.val); ok && got != nil {
			v = base.entry(val, key.val, place)
			r.mention(v.at)
			return v.because(key.why), true, nil
		}
	case traits.Lister:
		i, err := types.IndexOrError(key.val)
		size, _ := val.Size().(types.Int)
		if err == nil && i >= 0 && i < int(size) {
			v = base.item(val, types.Int(i))
			r.mention(v.at)
			return v.because(key.why), true, nil
		}
		if base.at == nil || err != nil {
			return value{}, false, union(base.growth(), key.why)
		}
		return value{}, false, union(at(base.at), key.why)
	}
	place = place.missing()
	r.mention(place)
	if place == nil {
		return value{}, false, union(base.why, key.why)
	}
	return value{}, false, union(at(place), key.why)
}

func (r *run) mention(place *path) {
	if place != nil && len(r.mentioned) < maxFields {
		r.mentioned = union(r.mentioned, at(place))
	}
}

// growth returns the fields that could make a list longer.
func (v value) growth() fields {
	if v.more != nil {
		return v.more
	}
	return v.why
}

// in evaluates `item in collection`.
func (r *run) in(item, collection value) value {
	if item.isError() || collection.isError() {
		return firstError(item, collection)
	}
	switch c := collection.val.(type) {
	case traits.Mapper:
		if !isKey(item.val) {
			return value{val: types.False, why: union(item.why, collection.why)}
		}
		v, found, why := r.find(collection, value{val: item.val})
		if !found {
			return value{val: types.False, why: union(item.why, why)}
		}
		return value{val: types.True, why: union(item.why, v.why)}
	case traits.Lister:
		return r.inList(item, collection, c)
	}
	return failed("no such overload", union(item.why, collection.why))
}

func (r *run) inList(item, list value, l traits.Lister) value {
	elements, _, _ := list.elements(maxSteps)
	r.steps += len(elements)
	for _, e := range elements {
		if equal(e.val.val, item.val) {
			return value{val: types.True, why: union(item.reads(), e.val.reads())}
		}
	}
	return value{val: types.False, why: union(item.reads(), list.growth())}
}

func equal(a, b ref.Val) bool { return types.Equal(a, b) == types.True }

// firstError returns the first error among values, with the fields of all errors.
func firstError(values ...value) value {
	var first *value
	var why fields
	for i, v := range values {
		if !v.isError() {
			continue
		}
		if first == nil {
			first = &values[i]
		}
		why = union(why, v.why)
	}
	return value{val: first.val, why: why}
}
