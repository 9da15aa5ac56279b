package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	k8sadmission "k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/matching"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/admission/unknown"
	"github.com/preadmit/preadmit/scanner/mutation"
	"github.com/preadmit/preadmit/scanner/policy/cel"
)

// mutationOracle changes objects with the API server's own dispatcher: it has all policies with a
// binding, compiled like the plugin's compilePolicy, which is not exported, and not filtered
// beforehand.
type mutationOracle struct {
	dispatcher generic.Dispatcher[mutating.PolicyHook]
	hooks      []mutating.PolicyHook
}

func (o *oracle) mutations(t testing.TB) *mutationOracle {
	authorizer, _ := o.cluster.Authorizer()
	m := &mutationOracle{dispatcher: mutating.NewDispatcher(authorizer, matching.NewMatcher(namespaces{o.cluster}, admission.Client{Cluster: o.cluster}), types{o.cluster})}
	for _, p := range o.set.Mutations {
		h := mutating.PolicyHook{Policy: p.MutatingAdmissionPolicy}
		for _, b := range o.set.MutationBindings {
			if b.Spec.PolicyName == p.Name {
				h.Bindings = append(h.Bindings, b.MutatingAdmissionPolicyBinding)
			}
		}
		if len(h.Bindings) == 0 {
			continue
		}
		h.Evaluator = o.compiler.mutator(t, p.MutatingAdmissionPolicy)
		if kind := p.Spec.ParamKind; kind != nil {
			gvk := schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind)
			if r, ok := o.cluster.Resource(gvk); !ok {
				h.ConfigurationError = fmt.Errorf("failed to find resource referenced by paramKind: '%v'", gvk)
			} else {
				h.ParamInformer, h.ParamScope = paramInformer{o.params(t, r, gvk)}, meta.RESTScopeRoot
				if r.Namespaced {
					h.ParamScope = meta.RESTScopeNamespace
				}
			}
		}
		m.hooks = append(m.hooks, h)
	}
	return m
}

// mutator returns the evaluator of a policy, compiled once.
func (c *upstreamCompiler) mutator(t testing.TB, p *v1.MutatingAdmissionPolicy) mutating.PolicyEvaluator {
	e, ok := c.mutators[p]
	if !ok {
		e = c.mutation(t, p)
		c.mutators[p] = e
	}
	return e
}

// mutation compiles a policy like the plugin's compilePolicy.
func (c *upstreamCompiler) mutation(t testing.TB, p *v1.MutatingAdmissionPolicy) mutating.PolicyEvaluator {
	compiler, err := c.compiler()
	if err != nil {
		t.Fatal(err)
	}
	options := plugincel.OptionalVariableDeclarations{HasParams: p.Spec.ParamKind != nil, HasAuthorizer: true}
	for _, v := range p.Spec.Variables {
		compiler.CompileAndStoreVariable(&validating.Variable{Name: v.Name, Expression: v.Expression}, options, environment.StoredExpressions)
	}
	e := mutating.PolicyEvaluator{CompositedCompiler: compiler}
	if len(p.Spec.MatchConditions) > 0 {
		var conditions []plugincel.ExpressionAccessor
		for i := range p.Spec.MatchConditions {
			conditions = append(conditions, (*matchconditions.MatchCondition)(&p.Spec.MatchConditions[i]))
		}
		e.Matcher = matchconditions.NewMatcher(compiler.CompileCondition(conditions, options, environment.StoredExpressions), p.Spec.FailurePolicy, "policy", "validate", p.Name)
	}
	options.HasPatchTypes = true
	for _, m := range p.Spec.Mutations {
		if m.PatchType == v1.PatchTypeJSONPatch {
			e.Mutators = append(e.Mutators, patch.NewJSONPatcher(compiler.CompileMutatingEvaluator(&patch.JSONPatchCondition{Expression: m.JSONPatch.Expression}, options, environment.StoredExpressions)))
		} else {
			e.Mutators = append(e.Mutators, patch.NewApplyConfigurationPatcher(compiler.CompileMutatingEvaluator(&patch.ApplyConfigurationCondition{Expression: m.ApplyConfiguration.Expression}, options, environment.StoredExpressions)))
		}
	}
	return e
}

// Mutate implements admission.Mutator. The plugin does not handle DELETE.
func (m *mutationOracle) Mutate(ctx context.Context, req *admission.Request) error {
	if req.GetOperation() == k8sadmission.Delete || exempt(req) {
		return nil
	}
	return m.dispatcher.Dispatch(ctx, req.Attributes, req.Interfaces, m.hooks)
}

// types returns the types of a cluster's kinds.
type types struct{ cluster *admission.Cluster }

func (p types) GetTypeConverter(kind schema.GroupVersionKind) managedfields.TypeConverter {
	converter, err := p.cluster.Types(kind)
	if err != nil {
		return nil
	}
	return converter
}

func (types) Run(context.Context) {}

// mutated compares the mutated objects of a request. It returns the request with ours, nil if it was
// refused, and the difference.
func (st *stage) mutated(t testing.TB, cluster *admission.Cluster, upstream *oracle, in admission.ClientRequest) (*admission.Request, string) {
	if ours := mutation.New(cluster, st.set, st.mutations); ours != nil {
		in.Mutator = ours
	}
	req, _, err := cluster.Prepare(context.Background(), in)
	if errors.As(err, new(*unknown.Error)) {
		return nil, ""
	}
	if in.Mutator == nil {
		return req, "" // nil if something else refuses the request
	}
	if err == nil && in.Operation != k8sadmission.Delete {
		if object, old := req.Unknown(); len(object)+len(old) > 0 {
			return req, "" // it may depend on a field that a controller wrote, which is known to the oracle
		}
	}
	ours := outcomeOf(req, err)
	st.countMutation(in, cluster, ours)
	by := func(o *oracle) string {
		in.Mutator = o.mutations(t)
		req, _, err := cluster.Prepare(context.Background(), in)
		return outcomeOf(req, err)
	}
	theirs := by(upstream)
	switch {
	case ours == theirs:
	case ours == by(compilerIn(cel.Environment).oracle(t, upstream.cluster, upstream.state, upstream.set)):
		st.tally.order++ // expressions iterated over a map in another order
	default:
		return nil, cmp.Diff(theirs, ours)
	}
	if err != nil {
		return nil, ""
	}
	return req, ""
}

// countMutation counts a request that policies changed or refused.
func (st *stage) countMutation(in admission.ClientRequest, cluster *admission.Cluster, ours string) {
	st.tally.mutable++
	in.Mutator = nil
	req, _, err := cluster.Prepare(context.Background(), in)
	if outcomeOf(req, err) == ours {
		return
	}
	st.tally.mutated++
	if strings.HasPrefix(ours, "refused: ") {
		st.tally.unmutated++
	}
	for _, phrase := range phrases {
		if strings.Contains(ours, phrase) {
			st.tally.said[phrase]++
		}
	}
}

// conditionTime matches the time of a condition, which a strategy sets to the time of the request.
var conditionTime = regexp.MustCompile(`(?i)("last(?:Transition|Update)Time": ")[^"]+`)

// outcomeOf returns the result of a request as text: the error, or its object. Times of conditions, which an
// error may quote, are left out.
func outcomeOf(req *admission.Request, err error) string {
	if err != nil {
		return "refused: " + conditionTime.ReplaceAllString(err.Error(), "${1}TIME")
	}
	if req.GetObject() == nil {
		return "no object"
	}
	content, err := admission.Content(req.GetObject())
	if err != nil {
		return "no content: " + err.Error()
	}
	text, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return "no JSON: " + err.Error()
	}
	return string(text)
}
