package expressions

import (
	"fmt"
	"math"
	"sync"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/util/version"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	apiservercel "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
	"k8s.io/apiserver/pkg/cel/mutation"
)

// Limits of the cost of evaluation (k8s.io/apiserver/pkg/apis/cel): of one expression, of all
// expressions of a policy and binding, and of its match conditions.
const (
	CallLimit           = apiservercel.PerCallLimit
	PolicyBudget        = apiservercel.RuntimeCELCostBudget
	MatchConditionLimit = apiservercel.RuntimeCELCostBudgetMatchConditions
)

// Estimate returns the maximum cost of an expression if every list, map and string that it reads has
// at most size elements, by cel-go's estimator with the costs of the API server's functions. It does
// not include variables. It returns an error if the expression does not compile.
func Estimate(expression string, size uint64) (uint64, error) {
	env, err := estimateEnv()
	if err != nil {
		return 0, fmt.Errorf("make the environment of estimates: %w", err)
	}
	compiled, issues := env.Compile(expression)
	if err := issues.Err(); err != nil {
		return 0, err
	}
	sizes := &sizeEstimator{size: size}
	estimate, err := env.EstimateCost(compiled, &library.CostEstimator{SizeEstimator: sizes})
	if err != nil {
		return 0, fmt.Errorf("estimate the cost: %w", err)
	}
	return estimate.Max, nil
}

// Unbounded is an estimate without an upper bound.
const Unbounded = uint64(math.MaxUint64)

// sizeEstimator estimates the same maximum size for everything.
type sizeEstimator struct{ size uint64 }

// EstimateSize implements checker.CostEstimator.
func (s *sizeEstimator) EstimateSize(checker.AstNode) *checker.SizeEstimate {
	return &checker.SizeEstimate{Min: 0, Max: s.size}
}

// EstimateCallCost implements checker.CostEstimator: the library's costs apply.
func (s *sizeEstimator) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}

// estimateEnv returns the environment of expressions, with all variables untyped.
var estimateEnv = sync.OnceValues(func() (*celgo.Env, error) {
	options := []celgo.EnvOption{celgo.Variable(plugincel.AuthorizerVarName, library.AuthorizerType)}
	for _, name := range []string{
		plugincel.ObjectVarName, plugincel.OldObjectVarName, plugincel.ParamsVarName,
		plugincel.RequestVarName, plugincel.NamespaceVarName, plugincel.VariableVarName,
	} {
		options = append(options, celgo.Variable(name, celgo.DynType))
	}
	// For mutations: Object, JSONPatch, and the function that escapes keys of paths.
	options = append(options, common.ResolverEnvOption(&mutation.DynamicTypeResolver{}), environment.UnversionedLib(library.JSONPatch))
	options = append(options, celgo.Variable(plugincel.RequestResourceAuthorizerVarName, library.ResourceCheckType))
	set, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0), EnvOptions: options,
	})
	if err != nil {
		return nil, err
	}
	return set.Env(environment.StoredExpressions)
})

// Constant returns the value of an expression that is the literal true or false.
func Constant(expression string) (value, ok bool) {
	env, err := estimateEnv()
	if err != nil {
		return false, false
	}
	parsed, issues := env.Parse(expression)
	if issues.Err() != nil {
		return false, false
	}
	e := parsed.NativeRep().Expr()
	if e.Kind() != ast.LiteralKind {
		return false, false
	}
	b, ok := e.AsLiteral().(types.Bool)
	return bool(b), ok
}
