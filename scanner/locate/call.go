package locate

import (
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// call evaluates an operator, a function or a macro.
func (r *run) call(c ast.CallExpr, s *scope) value {
	name, args := c.FunctionName(), c.Args()
	if v, ok := r.logic(c, s); ok {
		return v
	}
	if name == "has" && len(args) == 1 && !c.IsMemberFunction() {
		return r.has(args[0], s)
	}
	if c.IsMemberFunction() {
		if prefix, ok := r.qualifier(c.Target(), s); ok {
			return r.namespaced(prefix+"."+name, args, s)
		}
		if v, ok := r.macro(c, s); ok {
			return v
		}
		return r.function(name, true, append([]value{r.eval(c.Target(), s)}, r.evalAll(args, s)...))
	}
	return r.function(name, false, r.evalAll(args, s))
}

// logic evaluates the operators that do not always need all of their operands.
func (r *run) logic(c ast.CallExpr, s *scope) (value, bool) {
	switch name, n := c.FunctionName(), len(c.Args()); {
	case name == operators.LogicalAnd:
		return r.junction(name, false, c, s), true
	case name == operators.LogicalOr:
		return r.junction(name, true, c, s), true
	case name == operators.Conditional && n == 3:
		return r.conditional(c, s), true
	}
	return value{}, false
}

// function calls a function with the values of its arguments, the receiver first.
func (r *run) function(name string, member bool, args []value) value {
	switch n := len(args); {
	case name == operators.LogicalNot && n == 1:
		return not(args[0])
	case name == operators.Index && n == 2:
		return r.member(args[0], args[1])
	case (name == operators.OptSelect || name == operators.OptIndex) && n == 2:
		return r.optionalMember(args[0], args[1])
	case (name == operators.In || name == operators.OldIn) && n == 2:
		return r.in(args[0], args[1])
	case name == operators.Add && n == 2 && bothLists(args[0], args[1]):
		return r.concat(args[0], args[1])
	case name == "size" && n == 1:
		return r.size(args[0], member)
	case isComparison(name) && n == 2:
		return r.compare(name, args[0], args[1])
	}
	if v, ok := r.optional(name, member, args); ok {
		return v
	}
	return r.apply(signature{name: name, member: member, args: len(args)}, args)
}

// qualifier returns the target of a function whose name has dots, like optional.of.
func (r *run) qualifier(target ast.Expr, s *scope) (string, bool) {
	var parts []string
	for target.Kind() == ast.SelectKind {
		parts = append([]string{target.AsSelect().FieldName()}, parts...)
		target = target.AsSelect().Operand()
	}
	if target.Kind() != ast.IdentKind {
		return "", false
	}
	root := target.AsIdent()
	_, local := s.find(root)
	_, global := r.roots[root]
	if local || global || root == "variables" || root == "authorizer" {
		return "", false
	}
	return strings.Join(append([]string{root}, parts...), "."), true
}

// namespaced evaluates a function whose name has dots, or the macro cel.bind.
func (r *run) namespaced(name string, args []ast.Expr, s *scope) value {
	if name == "cel.bind" && len(args) == 3 && args[0].Kind() == ast.IdentKind {
		return r.eval(args[2], s.with(args[0].AsIdent(), r.eval(args[1], s)))
	}
	values := r.evalAll(args, s)
	switch {
	case name == "optional.of" && len(values) == 1:
		return some(values[0])
	case name == "optional.none" && len(values) == 0:
		return none(nil, nil)
	}
	return r.apply(signature{name: name, args: len(values)}, values)
}
