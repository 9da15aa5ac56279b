package locate

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// operand is an operand of && or ||.
type operand struct {
	why fields
	// guard: the operand states when nothing is required. selector: it compares with a constant.
	// names: it identifies an element by its name.
	guard, selector, names bool
}

// junction evaluates a chain of && or of ||. decisive is the value of an operand that decides the
// result: false for &&, true for ||. A decisive operand overrides errors.
func (r *run) junction(operator string, decisive bool, c ast.CallExpr, s *scope) value {
	var decided, errs []fields
	var others []operand
	failure := false
	for _, e := range flatten(operator, c.Args()) {
		switch v := r.eval(e, s); {
		case v.is(decisive):
			decided = append(decided, v.why)
		case v.is(!decisive):
			others = append(others, operand{v.why, isGuard(e), isSelector(e), identifies(e)})
		default:
			failure, errs = true, append(errs, v.reads())
		}
	}
	rank := operand.rankOfAll
	if operator == operators.LogicalOr {
		rank = operand.rank
	}
	slices.SortStableFunc(others, func(a, b operand) int { return rank(a) - rank(b) })
	switch why := union(errs...); {
	case len(decided) > 0:
		return value{val: types.Bool(decisive), why: union(decided...)}
	case len(why) > 0:
		return failed("operand is an error", why)
	case failure:
		return failed("operand is an error", deepest(others))
	}
	return value{val: types.Bool(!decisive), why: deepest(others)}
}

// rank orders alternatives: first requirements on existing fields, then those on absent fields,
// which often mark an exception, then guards, which state when nothing is required: `!has(a) || b`
// and `a != 'x' || b` require b. Operands that only identify an object by name come last: `c.name
// != 'x' || !b`.
func (o operand) rank() int {
	switch {
	case o.names:
		return 3
	case o.guard:
		return 2
	case len(o.why) > 0 && o.why[0].absent:
		return 1
	}
	return 0
}

// rankOfAll orders operands that are all true and should not be: `c.name == 'x' && b` and `type ==
// 'x' && b` are about b.
func (o operand) rankOfAll() int {
	switch {
	case o.names:
		return 2
	case o.selector:
		return 1
	}
	return 0
}

// deepest returns the fields of alternatives. It omits fields that contain another one: for `has(a)
// && a.b` it returns a.b.
func deepest(alternatives []operand) fields {
	var all fields
	for _, o := range alternatives {
		all = union(all, o.why)
	}
	return slices.DeleteFunc(slices.Clone(all), func(p path) bool {
		return slices.ContainsFunc(all, func(other path) bool { return other.text != p.text && other.within(p) })
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

// conditional evaluates `condition ? yes : no`. The result depends on the chosen branch first.
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
