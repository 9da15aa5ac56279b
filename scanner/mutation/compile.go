package mutation

import (
	"fmt"
	"sync"

	v1 "k8s.io/api/admissionregistration/v1"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/preadmit/preadmit/scanner/policy/cel"
	"github.com/preadmit/preadmit/scanner/policy/patches"
)

// Compiler compiles policies, each once. It is safe for concurrent use.
type Compiler struct{ cache sync.Map }

// evaluator returns the compiled evaluator of a policy.
func (c *Compiler) evaluator(p *v1.MutatingAdmissionPolicy) mutating.PolicyEvaluator {
	once := sync.OnceValue(func() mutating.PolicyEvaluator { return compile(&p.Spec, p.Name) })
	actual, _ := c.cache.LoadOrStore(p, once)
	return actual.(func() mutating.PolicyEvaluator)()
}

// compile compiles a policy as the server does: variables first, in order, then conditions and
// mutations. An expression that does not compile fails when it is evaluated.
func compile(spec *v1.MutatingAdmissionPolicySpec, name string) mutating.PolicyEvaluator {
	set, err := cel.Environment()
	if err != nil {
		return mutating.PolicyEvaluator{Error: fmt.Errorf("make the environment of expressions: %w", err)}
	}
	compiler, err := plugincel.NewCompositedCompiler(set)
	if err != nil {
		return mutating.PolicyEvaluator{Error: fmt.Errorf("make a compiler: %w", err)}
	}
	declared := plugincel.OptionalVariableDeclarations{HasParams: spec.ParamKind != nil, HasAuthorizer: true}
	for _, v := range spec.Variables {
		compiler.CompileAndStoreVariable(&validating.Variable{Name: v.Name, Expression: v.Expression}, declared, environment.StoredExpressions)
	}
	out := mutating.PolicyEvaluator{CompositedCompiler: compiler}
	if len(spec.MatchConditions) > 0 {
		conditions := make([]plugincel.ExpressionAccessor, len(spec.MatchConditions))
		for i := range spec.MatchConditions {
			conditions[i] = (*matchconditions.MatchCondition)(&spec.MatchConditions[i])
		}
		out.Matcher = matchconditions.NewMatcher(compiler.CompileCondition(conditions, declared, environment.StoredExpressions),
			spec.FailurePolicy, "policy", "validate", name)
	}
	declared.HasPatchTypes = true
	for _, m := range spec.Mutations {
		switch {
		case m.PatchType == v1.PatchTypeJSONPatch && m.JSONPatch != nil:
			accessor := &patch.JSONPatchCondition{Expression: m.JSONPatch.Expression}
			out.Mutators = append(out.Mutators, patch.NewJSONPatcher(compiler.CompileMutatingEvaluator(accessor, declared, environment.StoredExpressions)))
		case m.PatchType == v1.PatchTypeApplyConfiguration && m.ApplyConfiguration != nil:
			accessor := &patch.ApplyConfigurationCondition{Expression: m.ApplyConfiguration.Expression}
			out.Mutators = append(out.Mutators, patch.NewApplyConfigurationPatcher(compiler.CompileMutatingEvaluator(accessor, declared, environment.StoredExpressions)))
		}
	}
	return out
}

// texts returns the expressions of a policy.
func texts(spec *v1.MutatingAdmissionPolicySpec) []string {
	var all []string
	for _, v := range spec.Variables {
		all = append(all, v.Expression)
	}
	for _, c := range spec.MatchConditions {
		all = append(all, c.Expression)
	}
	for _, m := range spec.Mutations {
		if _, text := patches.ExpressionOf(m); text != "" {
			all = append(all, text)
		}
	}
	return all
}
