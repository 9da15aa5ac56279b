package locate

import (
	"strconv"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/interpreter"

	policycel "github.com/preadmit/preadmit/scanner/policy/cel"
)

// signature identifies a function or a type of the environment.
type signature struct {
	name          string
	member, ident bool
	args          int
}

// apply calls a function of the API server's environment. The result depends on all arguments.
func (r *run) apply(s signature, args []value) value {
	for _, a := range args {
		if a.isError() {
			return firstError(args...)
		}
	}
	if r.spent() {
		return tooMuchWork
	}
	why := readsOf(args)
	program := r.finder.program(s)
	if program == nil {
		return failed("no such function", why)
	}
	val, details, err := program.Eval(&arguments{values: args, workload: &r.workload})
	if cost := details.ActualCost(); cost != nil {
		r.cost += int(min(*cost, maxCost))
	}
	switch {
	case err != nil:
		return failed(err.Error(), why)
	case val == nil:
		return failed("no value", why)
	}
	v := value{val: val, why: why}
	if o, ok := val.(*types.Optional); ok && o.HasValue() {
		v.inner = &value{val: o.GetValue(), why: why}
	}
	return v
}

// program returns a program that calls a function with the variables a0, a1, ...
func (f *Finder) program(s signature) cel.Program {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p, ok := f.programs[s]; ok {
		return p
	}
	p, err := f.env.PlanProgram(ast.NewAST(s.expression(), ast.NewSourceInfo(nil)))
	if err != nil {
		p = nil
	}
	f.programs[s] = p
	return p
}

func (s signature) expression() ast.Expr {
	factory := ast.NewExprFactory()
	if s.ident {
		return factory.NewIdent(1, s.name)
	}
	args := make([]ast.Expr, s.args)
	for i := range args {
		args[i] = factory.NewIdent(int64(i+2), "a"+strconv.Itoa(i))
	}
	if s.member && s.args > 0 {
		return factory.NewMemberCall(1, s.name, args[0], args[1:]...)
	}
	return factory.NewCall(1, s.name, args...)
}

// arguments has the values of a0, a1, ... The work of calls is counted for the whole question.
type arguments struct {
	values   []value
	workload *policycel.Workload
}

var _ policycel.Counting = (*arguments)(nil)

// Workload implements policycel.Counting.
func (a *arguments) Workload() *policycel.Workload { return a.workload }

// ResolveName implements interpreter.Activation.
func (a *arguments) ResolveName(name string) (any, bool) {
	if len(name) < 2 || name[0] != 'a' {
		return nil, false
	}
	i, err := strconv.Atoi(name[1:])
	if err != nil || i < 0 || i >= len(a.values) {
		return nil, false
	}
	return a.values[i].val, true
}

// Parent implements interpreter.Activation.
func (a *arguments) Parent() interpreter.Activation { return nil }
