package locate

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
)

// optional evaluates the functions of optional values. ok is false for other functions.
func (r *run) optional(name string, member bool, args []value) (v value, ok bool) {
	if !member || len(args) == 0 {
		return value{}, false
	}
	o := args[0]
	if _, ok := o.val.(*types.Optional); !ok {
		return value{}, false
	}
	switch n := len(args); {
	case name == "orValue" && n == 2:
		return orValue(o, args[1]), true
	case name == "or" && n == 2 && o.inner != nil:
		return o, true
	case name == "or" && n == 2:
		return defaulted(o, args[1]), true
	case name == "hasValue" && n == 1:
		return value{val: types.Bool(o.inner != nil), why: o.why}, true
	case name == "value" && n == 1 && o.inner != nil:
		return *o.inner, true
	case name == "value" && n == 1:
		return failed("optional.none() dereference", o.why), true
	}
	return value{}, false
}

// orValue returns the content of an optional, or the fallback.
func orValue(o, fallback value) value {
	if o.inner != nil {
		return *o.inner
	}
	return defaulted(o, fallback)
}

// defaulted returns a fallback for an absent value: setting the absent one changes it.
func defaulted(absent, fallback value) value {
	v := fallback
	v.why = union(absent.why, fallback.why)
	if v.at == nil {
		v.at = absent.at
	}
	return v
}

// optMap evaluates the macros optMap and optFlatMap.
func (r *run) optMap(flat bool, target ast.Expr, args []ast.Expr, s *scope) value {
	o := r.eval(target, s)
	if o.isError() || o.inner == nil {
		return o
	}
	v := r.eval(args[1], s.with(args[0].AsIdent(), *o.inner))
	if flat {
		return v
	}
	return some(v)
}
