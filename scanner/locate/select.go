package locate

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/traits"
)

// conjunctsOf returns the operands of && in a condition.
func conjunctsOf(e ast.Expr) []ast.Expr { return flatten(operators.LogicalAnd, []ast.Expr{e}) }

// selects reports whether a condition selects elements by a constant.
func selects(e ast.Expr) bool { return slices.ContainsFunc(conjunctsOf(e), isSelector) }

// isSelector reports whether a condition compares a field with one or several constants.
func isSelector(e ast.Expr) bool {
	if e.Kind() != ast.CallKind || len(e.AsCall().Args()) != 2 {
		return false
	}
	left, right := e.AsCall().Args()[0], e.AsCall().Args()[1]
	switch e.AsCall().FunctionName() {
	case operators.Equals:
		return isConstant(left) != isConstant(right) && !isBool(left) && !isBool(right)
	case operators.In:
		return !isConstant(left) && right.Kind() == ast.ListKind
	}
	return false
}

// identifies reports whether a condition uses the name of an element: it compares `c.name` or
// passes it to a function.
func identifies(e ast.Expr) bool {
	if e.Kind() != ast.CallKind {
		return false
	}
	c := e.AsCall()
	operands := c.Args()
	if c.IsMemberFunction() {
		operands = append([]ast.Expr{c.Target()}, operands...)
	}
	if c.FunctionName() == operators.LogicalNot {
		return identifies(operands[0])
	}
	return slices.ContainsFunc(operands, func(e ast.Expr) bool {
		return e.Kind() == ast.SelectKind && !e.AsSelect().IsTestOnly() &&
			e.AsSelect().FieldName() == "name" && e.AsSelect().Operand().Kind() == ast.IdentKind
	})
}

func isConstant(e ast.Expr) bool { return e.Kind() == ast.LiteralKind }

func isBool(e ast.Expr) bool {
	return isConstant(e) && e.AsLiteral().Type() == types.BoolType
}

// sortBy sorts the elements by their keys.
func (l *loop) sortBy() value {
	type keyed struct{ item, key value }
	var all []keyed
	for _, e := range l.elements {
		key := l.round(e, l.body[0])
		if key.isError() {
			return key
		}
		all = append(all, keyed{e.val, key})
	}
	slices.SortStableFunc(all, func(a, b keyed) int {
		if c, ok := a.key.val.(traits.Comparer); ok {
			if order, ok := c.Compare(b.key.val).(types.Int); ok {
				return int(order)
			}
		}
		return 0
	})
	var items []value
	for _, k := range all {
		items = append(items, k.item)
	}
	return listOf(items, l.list.why)
}
