package locate

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// junction is a chain of && or of ||. decisive is the value of an operand that
// decides: false for &&, true for ||. Errors give way to a decisive operand.
func (r *run) junction(operator string, decisive bool, c ast.CallExpr, s *scope) value {
	operands := flatten(operator, c.Args())
	var decided, undecided, errs fields
	var err *value
	found := false
	for _, e := range byDemand(operator, operands) {
		v := r.eval(e, s)
		switch {
		case v.is(decisive):
			found, decided = true, union(decided, v.why)
		case v.is(!decisive):
			undecided = deepest(undecided, v.why)
		case err == nil:
			err = &v
			fallthrough
		default:
			errs = union(errs, v.reads())
		}
	}
	switch {
	case found:
		return value{val: types.Bool(decisive), why: decided}
	case err != nil:
		if errs == nil || !err.isError() {
			errs = union(errs, undecided)
		}
		return failed("operand is an error", errs)
	}
	return value{val: types.Bool(!decisive), why: undecided}
}

// deepest is the union of alternatives. A place that holds another one gives way to
// it: of `has(a) && a.b` that is a.b.
func deepest(a, b fields) fields {
	all := union(a, b)
	return slices.DeleteFunc(slices.Clone(all), func(p path) bool {
		return slices.ContainsFunc(all, func(other path) bool { return other != p && other.within(p) })
	})
}

// flatten lists the operands of nested uses of an operator in written order.
func flatten(operator string, args []ast.Expr) []ast.Expr {
	var all []ast.Expr
	for _, arg := range args {
		if arg.Kind() == ast.CallKind && arg.AsCall().FunctionName() == operator {
			all = append(all, flatten(operator, arg.AsCall().Args())...)
		} else {
			all = append(all, arg)
		}
	}
	return all
}

// byDemand puts what an alternative demands before the guards that say when it is
// not demanded: in `!has(a) || b` and `a != 'x' || b` that is b.
func byDemand(operator string, operands []ast.Expr) []ast.Expr {
	if operator != operators.LogicalOr {
		return operands
	}
	var demands, guards []ast.Expr
	for _, e := range operands {
		if isGuard(e) {
			guards = append(guards, e)
		} else {
			demands = append(demands, e)
		}
	}
	return append(demands, guards...)
}

func isGuard(e ast.Expr) bool {
	if e.Kind() != ast.CallKind {
		return false
	}
	name := e.AsCall().FunctionName()
	return name == operators.LogicalNot || name == operators.NotEquals
}

func not(v value) value {
	switch {
	case v.isError():
		return v
	case v.is(true), v.is(false):
		return value{val: types.Bool(v.is(false)), why: v.why}
	}
	return failed("no such overload", v.reads())
}

// conditional is `condition ? yes : no`: it depends on the chosen branch first.
func (r *run) conditional(c ast.CallExpr, s *scope) value {
	condition := r.eval(c.Args()[0], s)
	switch {
	case condition.is(true):
		return r.eval(c.Args()[1], s).because(condition.why)
	case condition.is(false):
		return r.eval(c.Args()[2], s).because(condition.why)
	}
	return failed("no condition", condition.reads())
}
