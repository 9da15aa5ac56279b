package policy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/lazy"

	"github.com/preadmit/preadmit/scanner/policy/cel"
)

// activation gives expressions the values of their variables. Each group of expressions that shares a
// cost budget has its own, so variables are evaluated anew, and charged anew, in each group, as on
// the server.
type activation struct {
	object, oldObject, params any
	variables                 []variable
	// request returns the `request` variable; making it takes longer than most expressions.
	request func() map[string]any
	// namespace returns namespaceObject, and authorizers the variables authorizer and
	// authorizer.requestResource, when an expression reads them.
	namespace   func() any
	authorizers *authorizers // nil without authorizers

	// values are the variables' values, made when they are first read.
	values *lazy.MapValue

	// ctx ends loops when it is done.
	ctx context.Context
	// workload is the work of the group that its cost does not include.
	workload cel.Workload
	// meter counts the cost of all evaluations of a scan.
	meter *atomic.Int64
	// usage is the cost of the evaluation, and whether it read more than its key covers.
	usage *usage
	// variableCost is the cost of the variables evaluated since it was last charged.
	variableCost int64
	// readNamespace is set when namespaceObject was read.
	readNamespace bool
	// denied is set when the authorizer did not allow something.
	denied bool
	// pending are the variables being evaluated; circular is a variable that reads itself.
	pending  []string
	circular string

	// watch records the values of the expressions and of their parts; nil if they are not needed.
	watch *watching
}

// Workload implements cel.Counting.
func (a *activation) Workload() *cel.Workload { return &a.workload }

// ResolveName implements interpreter.Activation.
func (a *activation) ResolveName(name string) (any, bool) {
	switch name {
	case plugincel.ObjectVarName:
		return a.object, true
	case plugincel.OldObjectVarName:
		return a.oldObject, true
	case plugincel.ParamsVarName:
		return a.params, true
	case plugincel.RequestVarName:
		return a.request(), true
	case plugincel.NamespaceVarName:
		a.readNamespace, a.usage.outsideKey = true, true
		return a.namespace(), true
	case plugincel.AuthorizerVarName:
		a.usage.outsideKey = true
		return a.authorizers.authorizer(&a.denied), a.authorizers != nil
	case plugincel.RequestResourceAuthorizerVarName:
		a.usage.outsideKey = true
		return a.authorizers.requestResource(&a.denied), a.authorizers != nil
	case plugincel.VariableVarName:
		return a.variablesValue(), true
	}
	return nil, false
}

// Parent implements interpreter.Activation.
func (a *activation) Parent() interpreter.Activation { return nil }

// variablesValue returns the `variables` variable. Each variable is evaluated when it is first read,
// and its value or error is kept (k8s.io/apiserver/pkg/admission/plugin/cel/composition.go).
func (a *activation) variablesValue() ref.Val {
	if a.values == nil {
		a.values = lazy.NewMapValue(cel.VariablesType)
		for _, v := range a.variables {
			a.values.Append(v.name, func(*lazy.MapValue) ref.Val { return a.evaluateVariable(v) })
		}
	}
	return a.values
}

// evaluateVariable evaluates a variable. A variable that is declared twice can read itself through a
// variable declared in between; this crashes an API server.
func (a *activation) evaluateVariable(v variable) ref.Val {
	if v.result.Error != nil {
		return types.NewErr("composited variable %q fails to compile: %v", v.name, v.result.Error)
	}
	if slices.Contains(a.pending, v.name) {
		a.circular = v.name
		return types.NewErr("variable %q reads itself", v.name)
	}
	a.pending = append(a.pending, v.name)
	leave := a.watch.enter(v.name)
	value, details, err := v.result.Program.ContextEval(a.ctx, a)
	leave(value, details)
	a.pending = a.pending[:len(a.pending)-1]
	if details == nil {
		return types.NewErr("unable to get evaluation details of variable %q", v.name)
	}
	cost := details.ActualCost()
	if cost == nil {
		return types.NewErr("unable to calculate cost of variable %q", v.name)
	}
	a.variableCost += clamp(*cost)
	if err != nil {
		return types.NewErr("composited variable %q fails to evaluate: %v", v.name, err)
	}
	return value
}

// charge adds the cost of an evaluation.
func (a *activation) charge(cost int64) {
	a.meter.Add(cost)
	a.usage.cost += cost
}

func clamp(cost uint64) int64 {
	if cost > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(cost)
}

// result is the result of an expression.
type result struct {
	accessor plugincel.ExpressionAccessor // nil if there is no expression at this index
	value    ref.Val
	err      error
}

// budgetError returns an error that ends the evaluation of a group of expressions.
func budgetError(text string, cause error) error {
	return &apiservercel.Error{Type: apiservercel.ErrorTypeInvalid, Detail: text, Cause: cause}
}

const outOfBudget = "validation failed due to running out of cost budget, no further validation rules will be run"

// uncounted returns the error for an evaluation whose cost is not known, so that it cannot be
// charged.
func uncounted(accessor plugincel.ExpressionAccessor, internal bool) error {
	text := fmt.Sprintf("runtime cost could not be calculated for expression: %v, no further expression will be run", accessor.GetExpression())
	if internal {
		return &apiservercel.Error{Type: apiservercel.ErrorTypeInternal, Detail: text}
	}
	return budgetError(text, apiservercel.ErrOutOfBudget)
}

// evaluateAll evaluates a group of expressions within a cost budget and returns the remaining budget.
// An error means that the group as a whole has no result (k8s.io/apiserver/pkg/admission/plugin/cel,
// evaluationActivation.Evaluate).
func (a *activation) evaluateAll(programs []plugincel.CompilationResult, budget int64) ([]result, int64, error) {
	results := make([]result, len(programs))
	for i, program := range programs {
		var err error
		before := budget
		results[i], budget, err = a.evaluate(program, budget)
		a.charge(before - max(budget, 0))
		if a.workload.Excess() != "" {
			return nil, -1, errors.New(a.workload.Excess())
		}
		if err != nil {
			return nil, -1, err
		}
	}
	return results, budget, nil
}

func (a *activation) evaluate(program plugincel.CompilationResult, budget int64) (result, int64, error) {
	r := result{accessor: program.ExpressionAccessor}
	if r.accessor == nil {
		return r, budget, nil
	}
	if program.Error != nil {
		r.err = &apiservercel.Error{Type: apiservercel.ErrorTypeInvalid, Detail: fmt.Sprintf("compilation error: %v", program.Error), Cause: program.Error}
		return r, budget, nil
	}
	value, details, err := program.Program.ContextEval(a.ctx, a)
	cost := a.variableCost
	a.variableCost = 0
	if cost > budget {
		return r, -1, budgetError(outOfBudget, apiservercel.ErrOutOfBudget)
	}
	budget -= cost
	if details == nil || details.ActualCost() == nil {
		return r, -1, uncounted(r.accessor, details == nil)
	}
	actual := details.ActualCost()
	if clamp(*actual) > budget {
		return r, -1, budgetError(outOfBudget, apiservercel.ErrOutOfBudget)
	}
	budget -= clamp(*actual)
	if err != nil {
		r.err = &apiservercel.Error{Type: apiservercel.ErrorTypeInvalid, Detail: fmt.Sprintf("expression '%v' resulted in error: %v", r.accessor.GetExpression(), err)}
	} else {
		r.value = value
	}
	return r, budget, nil
}
