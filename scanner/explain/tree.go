package explain

import (
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/policy"
	policycel "github.com/preadmit/preadmit/scanner/policy/cel"
)

// Limits of what is shown of an expression.
const (
	maxParts  = 1_500
	maxDepth  = 60
	maxRounds = 8
)

// tree builds the parts of an expression.
type tree struct {
	expression *policy.Watched
	info       *ast.SourceInfo
	loops      []ast.Expr
	left       int
}

// partsOf returns the whole expression as a single part with its subparts; nil if nothing was recorded.
func partsOf(w *policy.Watched) []report.ExplainedPart {
	if w.AST == nil || len(w.Parts) == 0 {
		return nil
	}
	t := &tree{expression: w, info: w.AST.SourceInfo(), left: maxParts}
	ast.PreOrderVisit(w.AST.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.ComprehensionKind {
			t.loops = append(t.loops, e)
		}
	}))
	parts := t.part(w.AST.Expr(), w.Parts, 0)
	if len(parts) == 1 && w.Evaluated { // the server's result
		if p := &parts[0]; w.Err != nil && p.State == report.StateError {
			return parts
		} else if w.Err != nil {
			p.State, p.Value, p.Why = report.StateError, "", clip(w.Err.Error(), maxText)
		} else if w.Value != nil {
			t.settle(p, w.Value)
		}
	}
	return parts
}

// part returns a part with its subparts; nil for a literal. seen are the values recorded in the current
// round of the enclosing loop.
func (t *tree) part(e ast.Expr, seen []policycel.Seen, depth int) []report.ExplainedPart {
	if e = t.written(e); isLiteral(e) || t.left <= 0 || depth > maxDepth {
		return nil
	}
	t.left--
	p := report.ExplainedPart{Text: t.text(e), State: report.StateSkipped}
	if at := t.info.GetStartLocation(e.ID()); at.Line() > 0 {
		p.Line, p.Column = at.Line(), at.Column()+1
	}
	if v := t.valueOf(e, seen); v != nil {
		t.settle(&p, v)
	}
	for i, child := range t.children(e) {
		rounds := t.roundsOf(e, child, seen)
		if rounds == nil {
			parts := t.part(child, seen, depth+1)
			if len(parts) > 0 && i == t.chosen(e, seen) && parts[0].State == report.StateSkipped {
				parts[0].State, parts[0].Value, parts[0].Why = p.State, p.Value, p.Why
			}
			p.Parts = append(p.Parts, parts...)
			p.MoreParts = p.MoreParts || len(parts) == 0 && !isLiteral(child)
			continue
		}
		t.rounds(&p, child, rounds, depth)
	}
	return []report.ExplainedPart{p}
}

// isLiteral reports whether the value of a part is evident from its text.
func isLiteral(e ast.Expr) bool {
	switch e.Kind() {
	case ast.LiteralKind:
		return true
	case ast.ListKind:
		return e.AsList().Size() == 0
	case ast.MapKind:
		return e.AsMap().Size() == 0
	}
	return false
}

// settle sets the result of a part.
func (t *tree) settle(p *report.ExplainedPart, v ref.Val) {
	p.State, p.Value, p.Why = report.StateValue, "", ""
	switch v := v.(type) {
	case *types.Err:
		p.State, p.Why = report.StateError, clip(v.Error(), maxText)
	case *types.Unknown:
		p.State, p.Why = report.StateUnknown, t.expression.Why(v)
	default:
		p.Value = text(v)
	}
}

func (t *tree) text(e ast.Expr) string {
	s, err := cel.ExprToString(e, t.info)
	if err != nil {
		return ""
	}
	return clip(strings.Join(strings.Fields(s), " "), maxText)
}

// macro returns the call of a macro as it was written; ok is false if e is not a macro.
func (t *tree) macro(e ast.Expr) (call ast.CallExpr, ok bool) {
	written, ok := t.info.GetMacroCall(e.ID())
	if !ok || written.Kind() != ast.CallKind {
		return nil, false
	}
	return written.AsCall(), true
}

// children returns the direct parts of an expression.
func (t *tree) children(e ast.Expr) []ast.Expr {
	if call, ok := t.macro(e); ok {
		return t.arguments(call)
	}
	var all []ast.Expr
	switch e.Kind() {
	case ast.CallKind:
		call := e.AsCall()
		if isIndex(call.FunctionName()) {
			return append(t.operand(call.Args()[0]), call.Args()[1:]...)
		}
		if isJoined(call.FunctionName()) {
			return append(t.joined(call.FunctionName(), call.Args()[0]), t.joined(call.FunctionName(), call.Args()[1])...)
		}
		if call.IsMemberFunction() && !isNamespace(call) {
			all = append(all, call.Target())
		}
		return append(all, call.Args()...)
	case ast.SelectKind:
		return t.operand(e.AsSelect().Operand())
	case ast.ListKind:
		return e.AsList().Elements()
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			all = append(all, entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
	case ast.StructKind:
		for _, field := range e.AsStruct().Fields() {
			all = append(all, field.AsStructField().Value())
		}
	}
	return all
}

// isJoined reports whether nested uses of an operator are shown as one list of operands.
func isJoined(function string) bool {
	return function == operators.LogicalAnd || function == operators.LogicalOr || function == operators.Add
}

// joined returns the operands of nested uses of an operator.
func (t *tree) joined(operator string, e ast.Expr) []ast.Expr {
	if _, ok := t.macro(e); ok || e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operator {
		return []ast.Expr{e}
	}
	args := e.AsCall().Args()
	return append(t.joined(operator, args[0]), t.joined(operator, args[1])...)
}

// isNamespace reports whether the target of a call is a part of the function's name.
func isNamespace(call ast.CallExpr) bool {
	target := call.Target()
	return target.Kind() == ast.IdentKind && policycel.IsFunction(target.AsIdent()+"."+call.FunctionName())
}

func isIndex(function string) bool {
	return function == operators.Index || function == operators.OptIndex || function == operators.OptSelect
}

// operand returns the parts of the operand of a selection: a chain of fields of a variable has none.
func (t *tree) operand(e ast.Expr) []ast.Expr {
	if _, ok := t.macro(e); ok {
		return []ast.Expr{e}
	}
	switch e.Kind() {
	case ast.IdentKind:
		return nil
	case ast.SelectKind:
		return t.operand(e.AsSelect().Operand())
	case ast.CallKind:
		if call := e.AsCall(); isIndex(call.FunctionName()) {
			return append(t.operand(call.Args()[0]), call.Args()[1:]...)
		}
	}
	return []ast.Expr{e}
}

// arguments returns the arguments of a macro without the variables that it declares.
func (t *tree) arguments(call ast.CallExpr) []ast.Expr {
	var all []ast.Expr
	args := call.Args()
	if call.FunctionName() == operators.Has {
		return t.operand(t.written(args[0]).AsSelect().Operand())
	}
	if call.IsMemberFunction() && !(call.Target().Kind() == ast.IdentKind && call.Target().AsIdent() == "cel") {
		all = append(all, t.written(call.Target()))
	}
	for i, arg := range args {
		if i < len(args)-1 && arg.Kind() == ast.IdentKind {
			continue // a variable
		}
		all = append(all, t.written(arg))
	}
	return all
}

// written returns an argument of a macro; for an argument that is itself a macro the call only has its
// ID.
func (t *tree) written(e ast.Expr) ast.Expr {
	if e.Kind() != ast.UnspecifiedExprKind {
		return e
	}
	var found ast.Expr = e
	ast.PreOrderVisit(t.expression.AST.Expr(), ast.NewExprVisitor(func(other ast.Expr) {
		if other.ID() == e.ID() {
			found = other
		}
	}))
	return found
}

// valueOf returns the recorded value of an expression.
func (t *tree) valueOf(e ast.Expr, seen []policycel.Seen) ref.Val {
	if v := last(seen, e.ID()); v != nil {
		return v
	}
	for _, loop := range t.loops {
		if loop.ID() == e.ID() {
			c := loop.AsComprehension()
			if v := last(seen, c.IterRange().ID()); v != nil && types.IsUnknownOrError(v) {
				return v
			}
			return last(seen, c.Result().ID())
		}
	}
	return nil
}

func last(seen []policycel.Seen, part int64) ref.Val {
	for i := len(seen) - 1; i >= 0; i-- {
		if seen[i].Part == part {
			return seen[i].Value
		}
	}
	return nil
}

// chosen returns the index of the chosen branch of a conditional, or -1. The branch has the value of the
// conditional even if no value of it was recorded: cel-go evaluates fields of variables together with
// the conditional.
func (t *tree) chosen(e ast.Expr, seen []policycel.Seen) int {
	if e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.Conditional {
		switch t.valueOf(e.AsCall().Args()[0], seen) {
		case types.True:
			return 1
		case types.False:
			return 2
		}
	}
	return -1
}

// roundsOf returns the values recorded in each round of the loop that evaluates an argument of a macro;
// nil if it is evaluated once.
func (t *tree) roundsOf(e, argument ast.Expr, seen []policycel.Seen) [][]policycel.Seen {
	if _, ok := t.macro(e); !ok {
		return nil
	}
	loop := t.loopOf(argument)
	if loop == nil || !within(e, loop.LoopCondition().ID()) {
		return nil
	}
	rounds := [][]policycel.Seen{}
	from := -1
	for i := range seen {
		if seen[i].Part != loop.LoopCondition().ID() {
			continue
		}
		if from >= 0 {
			rounds = append(rounds, seen[from:i])
		}
		if from = i; seen[i].Value == types.False {
			from = -1
		}
	}
	if from >= 0 {
		rounds = append(rounds, seen[from:])
	}
	return rounds
}

// loopOf returns the innermost loop that evaluates an expression in its rounds; nil if there is none.
func (t *tree) loopOf(e ast.Expr) (loop ast.ComprehensionExpr) {
	for _, l := range t.loops {
		if c := l.AsComprehension(); within(c.LoopStep(), e.ID()) {
			loop = c
		}
	}
	return loop
}

func within(e ast.Expr, id int64) bool {
	found := false
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(part ast.Expr) { found = found || part.ID() == id }))
	return found
}

// rounds adds the rounds of a loop: first those that decide its result, up to a maximum.
func (t *tree) rounds(p *report.ExplainedPart, argument ast.Expr, rounds [][]policycel.Seen, depth int) {
	names := t.bound(argument)
	shown := map[int]bool{}
	for _, decisive := range []bool{true, false} {
		for i, round := range rounds {
			if len(shown) < maxRounds && isDecisive(p, t.valueOf(argument, round)) == decisive {
				shown[i] = true
			}
		}
	}
	for i, round := range rounds {
		if !shown[i] {
			continue
		}
		at := -1
		for j := range p.Rounds {
			if p.Rounds[j].Index == i {
				at = j // added for another argument of the same macro
			}
		}
		if at < 0 {
			r := report.ExplainedRound{Index: i, Bound: []report.ExplainedBound{}, Parts: []report.ExplainedPart{}}
			for j, v := range round[0].Bound {
				if j < len(names) {
					r.Bound = append(r.Bound, report.ExplainedBound{Name: names[j], Value: text(v)})
				}
			}
			p.Rounds = append(p.Rounds, r)
			at = len(p.Rounds) - 1
		}
		before := len(p.Rounds[at].Parts)
		p.Rounds[at].Parts = append(p.Rounds[at].Parts, t.part(argument, round, depth+1)...)
		p.MoreParts = p.MoreParts || len(p.Rounds[at].Parts) == before && !isLiteral(argument)
	}
	p.MoreRounds = max(p.MoreRounds, len(rounds)-len(shown))
}

// isDecisive reports whether a round decides the result of a loop: a false one for all(), a true one for
// exists(), and any that fails.
func isDecisive(p *report.ExplainedPart, v ref.Val) bool {
	b, ok := v.(types.Bool)
	if !ok {
		return v != nil && types.IsUnknownOrError(v)
	}
	return p.Value == "true" && b == types.True || p.Value == "false" && b == types.False
}

// bound returns the names of the variables of the innermost loop around an argument.
func (t *tree) bound(argument ast.Expr) []string {
	loop := t.loopOf(argument)
	if loop.HasIterVar2() {
		return []string{loop.IterVar(), loop.IterVar2()}
	}
	return []string{loop.IterVar()}
}
