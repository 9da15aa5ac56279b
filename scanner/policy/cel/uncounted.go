package cel

import (
	"fmt"
	"math/bits"
	"sync"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	"k8s.io/apimachinery/pkg/util/version"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

// Uncounted is an expression that is evaluated without counting its cost, since counting takes as long as the
// evaluation. It is for callers for which Bound shows that the cost stays below the limits: then nothing else
// of the evaluation differs. It is safe for concurrent use.
type Uncounted struct {
	env     *celgo.Env
	checked *celgo.Ast
	planned interpreter.Interpretable
	sources sources
	request bool     // request is read
	steps   uint64   // length of the longest path, plus two
	bounds  sync.Map // Sizes -> uint64
}

// estimated are the functions whose cost cel-go estimates well. Counting their cost does not end an
// evaluation, as that of some others does for errors as arguments. Programs of cel-go use their declared
// implementations.
var estimated = func() map[string]bool {
	all := map[string]bool{}
	for _, name := range []string{
		operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.Conditional, operators.NotStrictlyFalse,
		operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals,
		operators.Add, operators.Subtract, operators.Multiply, operators.Divide, operators.Modulo, operators.Negate,
		operators.In, operators.Index, operators.OptIndex, operators.OptSelect, "hasValue",
		overloads.Size, overloads.StartsWith, overloads.EndsWith, overloads.Contains, overloads.Matches,
		overloads.TypeConvertString, overloads.TypeConvertDyn, overloads.TypeConvertType,
		"quantity", "isQuantity", "isLessThan", "isGreaterThan", "compareTo",
	} {
		all[name] = true
	}
	return all
}()

// NewUncounted compiles an expression of an environment. It returns an error if the expression does not
// compile, or if its cost cannot be estimated well.
func NewUncounted(env *celgo.Env, expression string) (u *Uncounted, err error) {
	defer func() { // for panics of cel-go's validators
		if p := recover(); p != nil {
			u, err = nil, fmt.Errorf("compile: %v", p)
		}
	}()
	checked, issues := env.Compile(expression)
	if err := issues.Err(); err != nil {
		return nil, err
	}
	longest := 0
	for _, e := range ast.MatchDescendants(ast.NavigateAST(checked.NativeRep()), ast.AllMatcher()) {
		longest = max(longest, pathLength(e))
	}
	for _, call := range ast.MatchDescendants(ast.NavigateAST(checked.NativeRep()), ast.KindMatcher(ast.CallKind)) {
		if name := call.AsCall().FunctionName(); !estimated[name] {
			return nil, fmt.Errorf("what function %s costs is not known", name)
		}
	}
	calls, err := limitedCalls(env, false)
	if err != nil {
		return nil, err
	}
	dispatcher := interpreter.NewDispatcher()
	for name, declared := range env.Functions() {
		bindings, err := declared.Bindings()
		if err == nil {
			err = dispatcher.Add(bindings...)
		}
		if err != nil {
			return nil, fmt.Errorf("bindings of function %s: %w", name, err)
		}
	}
	// Like cel.newProgram of cel-go, but without cost counting and interruption, since the evaluation
	// is short.
	attributes := interpreter.NewAttributeFactory(env.Container, env.CELTypeAdapter(), env.CELTypeProvider())
	planned, err := interpreter.NewInterpreter(dispatcher, env.Container, env.CELTypeProvider(), env.CELTypeAdapter(), attributes).NewInterpretable(
		checked.NativeRep(), interpreter.CustomDecorator(calls), interpreter.Optimize(),
		interpreter.CompileRegexConstants(interpreter.MatchesRegexOptimization, library.FindRegexOptimization, library.FindAllRegexOptimization),
	)
	if err != nil {
		return nil, err
	}
	return &Uncounted{
		env: env, checked: checked, planned: planned, sources: sourcesOf(checked.NativeRep().Expr()), steps: uint64(longest) + 2,
		request: mentions(checked.NativeRep(), plugincel.RequestVarName),
	}, nil
}

// mentions reports whether an identifier in an expression has a name, even if it is the variable of a loop.
func mentions(a *ast.AST, name string) bool {
	return len(ast.MatchDescendants(ast.NavigateAST(a), func(e ast.NavigableExpr) bool {
		return e.Kind() == ast.IdentKind && e.AsIdent() == name
	})) > 0
}

// ReadsRequest reports whether the expression may read `request`.
func (u *Uncounted) ReadsRequest() bool { return u.request }

// pathLength returns the number of fields and items that an expression selects.
func pathLength(e ast.Expr) int {
	switch e.Kind() {
	case ast.SelectKind:
		return 1 + pathLength(e.AsSelect().Operand())
	case ast.CallKind:
		switch call := e.AsCall(); call.FunctionName() {
		case operators.Index, operators.OptIndex, operators.OptSelect:
			return 1 + pathLength(call.Args()[0])
		}
	}
	return 0
}

// Eval evaluates the expression.
func (u *Uncounted) Eval(vars interpreter.Activation) (value ref.Val, err error) {
	defer func() { // like cel-go's programs
		if p := recover(); p != nil {
			value, err = nil, fmt.Errorf("%v", p)
		}
	}()
	if value = u.planned.Eval(vars); types.IsError(value) {
		return value, value.(*types.Err)
	}
	return value, nil
}

// Bound returns the maximum cost of the expression for values of some sizes, without variables: cel-go's
// estimate, increased for the steps of paths into untyped values, which it does not include.
func (u *Uncounted) Bound(of Sizes) uint64 {
	if bound, ok := u.bounds.Load(of); ok {
		return bound.(uint64)
	}
	bound := Unbounded
	if estimate, err := u.env.EstimateCost(u.checked, &library.CostEstimator{SizeEstimator: sizeEstimator{of, u.sources}}, checker.PresenceTestHasCost(true)); err == nil {
		if high, low := bits.Mul64(estimate.Max, u.steps); high == 0 && low < Unbounded/2 {
			bound = low + u.steps
		}
	}
	u.bounds.Store(of, bound)
	return bound
}

// Declare returns the environment of a policy's expressions, as the API server's compiler derives it from a
// set (k8s.io/apiserver/pkg/admission/plugin/cel, createEnvForOpts).
func Declare(set *environment.EnvSet, hasParams bool) (*celgo.Env, error) {
	namespace, request := plugincel.BuildNamespaceType(), plugincel.BuildRequestType()
	options := []celgo.EnvOption{
		celgo.Variable(plugincel.ObjectVarName, celgo.DynType),
		celgo.Variable(plugincel.OldObjectVarName, celgo.DynType),
		celgo.Variable(plugincel.NamespaceVarName, namespace.CelType()),
		celgo.Variable(plugincel.RequestVarName, request.CelType()),
		celgo.Variable(plugincel.AuthorizerVarName, library.AuthorizerType),
		celgo.Variable(plugincel.RequestResourceAuthorizerVarName, library.ResourceCheckType),
	}
	if hasParams {
		options = append(options, celgo.Variable(plugincel.ParamsVarName, celgo.DynType))
	}
	set, err := set.Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0), EnvOptions: options, DeclTypes: []*apiservercel.DeclType{namespace, request},
	})
	if err != nil {
		return nil, err
	}
	return set.Env(environment.StoredExpressions)
}
