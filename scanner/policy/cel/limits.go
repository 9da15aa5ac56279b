package cel

import (
	"fmt"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// Limits of the work of one group of expressions: comparing nested lists, searching and building
// text. An API server has no such limits. It counts the cost of a call after the call, and assumes a
// low cost if it does not know the types: forty variables that each add the previous one to itself
// make it build a text of ten terabytes. Beyond the limits the server's answer is not known.
const (
	maxWork  = 20_000_000        // values read, or 16 bytes of text each: about two seconds
	maxBuilt = 256 * 1024 * 1024 // bytes of the texts and lists that calls return
)

// Workload counts the work of a group of expressions that its cost does not include.
type Workload struct {
	work, built int64
	// weights caches the weights of containers, by identity.
	weights map[any]int64
	// excess is set when a limit is exceeded: the group has no result.
	excess string
}

// Excess describes the limit that was exceeded, "" if none was.
func (w *Workload) Excess() string { return w.excess }

// Counting is an activation of expressions whose work is counted together.
type Counting interface {
	interpreter.Activation
	Workload() *Workload
}

// add counts work before it is done. Beyond a limit it panics, as cel-go does to end an evaluation.
func (w *Workload) add(done effort) {
	if w.work += done.work + done.built/bytesPerValue; w.work > maxWork || w.work < 0 {
		w.excess = fmt.Sprintf("the policy's expressions compare or search more than %d million values, which may keep an API server busy for hours; make them cheaper", maxWork/1_000_000)
	}
	if w.built += done.built; w.built > maxBuilt || w.built < 0 {
		w.excess = fmt.Sprintf("the policy's expressions build more than %d MiB of texts and lists, which may end an API server; make them smaller", maxBuilt>>20)
	}
	if w.excess != "" {
		panic(interpreter.EvalCancelledError{Message: w.excess, Cause: interpreter.CostLimitExceeded})
	}
}

// limited returns the option for programs of an environment whose calls are counted in advance. With
// unknowns, all calls search their arguments for unknown values.
func limited(env *celgo.Env, unknowns bool) (celgo.ProgramOption, error) {
	calls, err := limitedCalls(env, unknowns)
	return celgo.CustomDecorator(calls), err
}

func limitedCalls(env *celgo.Env, unknowns bool) (interpreter.InterpretableDecorator, error) {
	bindings := map[string]*functions.Overload{}
	for name, declared := range env.Functions() {
		if efforts[name] == nil && !unknowns {
			continue
		}
		all, err := declared.Bindings()
		if err != nil {
			return nil, fmt.Errorf("bindings of function %s: %w", name, err)
		}
		for _, overload := range all {
			bindings[overload.Operator] = overload
		}
	}
	bindings[overloads.Equals], bindings[overloads.NotEquals] = equality(operators.Equals), equality(operators.NotEquals)
	return func(i interpreter.Interpretable) (interpreter.Interpretable, error) {
		call, ok := i.(interpreter.InterpretableCall)
		if !ok || efforts[call.Function()] == nil && !unknowns {
			return i, nil
		}
		overload := bindings[call.OverloadID()]
		if overload == nil {
			overload = bindings[call.Function()]
		}
		if unknowns && (overload == nil || overload.NonStrict || len(call.Args()) == 0) {
			return i, nil // no argument can contain an unknown value
		}
		if overload == nil {
			return nil, fmt.Errorf("function %s has no implementation", call.Function())
		}
		return &limitedCall{InterpretableCall: call, args: call.Args(), effort: efforts[call.Function()], overload: overload, unknowns: unknowns}, nil
	}, nil
}

// equality returns the operator == or !=, for which cel-go has no function.
func equality(name string) *functions.Overload {
	return &functions.Overload{Operator: name, Binary: func(l, r ref.Val) ref.Val {
		if name == operators.NotEquals {
			return types.Bool(types.Equal(l, r) != types.True)
		}
		return types.Equal(l, r)
	}}
}

// limitedCall is a call that is counted before it is made. Otherwise it equals the call of cel-go's
// planner (github.com/google/cel-go/interpreter, planCall).
type limitedCall struct {
	interpreter.InterpretableCall
	args     []interpreter.Interpretable
	effort   func(m measure, a, b, c ref.Val) effort
	overload *functions.Overload
	unknowns bool
}

// settled returns the call's result if unknown values in its arguments determine it.
func (c *limitedCall) settled(args ...ref.Val) ref.Val {
	if !c.unknowns {
		return nil
	}
	return absorbed(c.Function(), args)
}

// Eval implements interpreter.Interpretable.
func (c *limitedCall) Eval(vars interpreter.Activation) ref.Val {
	switch {
	case len(c.args) == 1 && c.overload.Unary != nil:
		return c.unary(vars)
	case len(c.args) == 2 && c.overload.Binary != nil:
		return c.binary(vars)
	}
	return c.variadic(vars)
}

func (c *limitedCall) unary(vars interpreter.Activation) ref.Val {
	v := c.args[0].Eval(vars)
	if types.IsUnknownOrError(v) {
		return v
	}
	if settled := c.settled(v); settled != nil {
		return settled
	}
	c.count(vars, v, nil, nil)
	if c.takes(v) {
		return types.LabelErrNode(c.ID(), c.overload.Unary(v))
	}
	return c.receive(v)
}

func (c *limitedCall) binary(vars interpreter.Activation) ref.Val {
	l, r := c.args[0].Eval(vars), c.args[1].Eval(vars)
	if types.IsUnknownOrError(l) {
		return l
	}
	if types.IsUnknownOrError(r) {
		return r
	}
	if settled := c.settled(l, r); settled != nil {
		return settled
	}
	c.count(vars, l, r, nil)
	if c.takes(l) {
		return types.LabelErrNode(c.ID(), flat(c.overload.Binary(l, r)))
	}
	return c.receive(l, r)
}

func (c *limitedCall) variadic(vars interpreter.Activation) ref.Val {
	args := make([]ref.Val, len(c.args), max(3, len(c.args)))
	for i, arg := range c.args {
		if args[i] = arg.Eval(vars); types.IsUnknownOrError(args[i]) {
			return args[i]
		}
	}
	if settled := c.settled(args...); settled != nil {
		return settled
	}
	c.count(vars, args[:3][0], args[:3][1], args[:3][2])
	if c.overload.Function != nil && c.takes(args[0]) {
		return types.LabelErrNode(c.ID(), c.overload.Function(args...))
	}
	if args[0].Type().HasTrait(traits.ReceiverType) {
		return c.receive(args...)
	}
	return types.NewErrWithNodeID(c.ID(), "no such overload: %s %d", c.Function(), c.ID())
}

// count counts the call. Arguments that it does not have are nil.
func (c *limitedCall) count(vars interpreter.Activation, first, second, third ref.Val) {
	if c.effort == nil {
		return
	}
	if done := c.effort(measure{vars}, first, second, third); done.isLarge() {
		workloadOf(vars).add(done)
	}
}

// takes reports whether the implementation accepts a first argument.
func (c *limitedCall) takes(v ref.Val) bool {
	return c.overload.OperandTrait == 0 || v.Type().HasTrait(c.overload.OperandTrait)
}

// receive calls a method of the first argument.
func (c *limitedCall) receive(args ...ref.Val) ref.Val {
	if args[0].Type().HasTrait(traits.ReceiverType) {
		return types.LabelErrNode(c.ID(), args[0].(traits.Receiver).Receive(c.Function(), c.OverloadID(), args[1:]))
	}
	return types.NewErrWithNodeID(c.ID(), "no such overload: %s", c.Function())
}

// workloadOf returns the workload of the evaluation that vars belongs to; a new one when a constant
// is evaluated at compile time.
func workloadOf(vars interpreter.Activation) *Workload {
	for vars != nil {
		if a, ok := vars.(Counting); ok {
			return a.Workload()
		}
		vars = vars.Parent()
	}
	return &Workload{}
}
