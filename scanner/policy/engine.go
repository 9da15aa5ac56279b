package policy

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission/plugin/authorizer"
	"k8s.io/kubernetes/pkg/kubeapiserver/admission/exclusion"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/admission/unknown"
	"github.com/preadmit/preadmit/scanner/parallel"
	"github.com/preadmit/preadmit/scanner/policy/cel"
	"github.com/preadmit/preadmit/scanner/policy/settled"
)

// Engine judges requests by the policies of a set in a cluster's state. It is safe for concurrent
// use.
type Engine struct {
	cluster  *admission.Cluster
	compiler *Compiler
	matcher  *matcher
	hooks    []hook
	exempt   map[schema.GroupResource]bool
	classes  sync.Map // requestClass -> *class
	reads    sync.Map // paramKey -> func() readParam
	// readBytes is the size of the params that were read, in bytes of text.
	readBytes atomic.Int64
}

// hook is a policy with the bindings that put it into force.
type hook struct {
	policy   *Policy
	bindings []*Binding
	rules    *v1.ValidatingAdmissionPolicy
	// compiled compiles the policy when it is first evaluated.
	compiled *parallel.Once[*compiled]
	// readsStatus is the field of compiled, and key identifies the policy, both without compiling it.
	readsStatus func() bool
	key         func() (settled.Key, error)
}

// NewEngine returns an Engine. Policies without a binding have no effect.
func NewEngine(cluster *admission.Cluster, compiler *Compiler, set *Set) *Engine {
	e := &Engine{cluster: cluster, compiler: compiler, matcher: newMatcher(cluster), exempt: exempt()}
	bindings := map[string][]*Binding{}
	for _, b := range set.Bindings {
		if unknown.At([]string{"spec", "policyName"}, b.Source.Unknown) {
			for _, p := range set.Policies { // its policyName is unknown: it may bind any
				bindings[p.Name] = append(bindings[p.Name], b)
			}
			continue
		}
		bindings[b.Spec.PolicyName] = append(bindings[b.Spec.PolicyName], b)
	}
	for _, p := range set.Policies {
		if bound := bindings[p.Name]; len(bound) > 0 {
			e.hooks = append(e.hooks, hook{
				policy: p, bindings: bound, rules: rulesOnly(p.ValidatingAdmissionPolicy),
				compiled:    parallel.NewOnce(func() *compiled { return compiler.compile(p.ValidatingAdmissionPolicy) }),
				readsStatus: sync.OnceValue(func() bool { return readsStatus(&p.Spec) }),
				key:         sync.OnceValues(func() (settled.Key, error) { return keyOfSpec(&p.Spec) }),
			})
		}
	}
	return e
}

// exempt returns the resources that no policy judges: reviews, and the admission policies themselves
// (k8s.io/apiserver/pkg/admission/plugin/policy/generic).
func exempt() map[schema.GroupResource]bool {
	m := map[schema.GroupResource]bool{}
	for _, gr := range exclusion.Excluded() {
		m[gr] = true
	}
	for _, r := range []string{"validatingadmissionpolicies", "validatingadmissionpolicybindings", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings"} {
		m[schema.GroupResource{Group: v1.GroupName, Resource: r}] = true
	}
	return m
}

// Evaluate judges a request.
func (e *Engine) Evaluate(ctx context.Context, req *admission.Request) Outcome {
	return e.EvaluateBut(ctx, req, nil)
}

// EvaluateBut judges a request by all policies except those named in settled.
func (e *Engine) EvaluateBut(ctx context.Context, req *admission.Request, settled map[string]bool) Outcome {
	d := e.dispatch(ctx, req)
	if e.exempt[req.GetResource().GroupResource()] {
		return d.outcome
	}
	candidates := e.class(req).candidates
	for i := range candidates {
		if ctx.Err() != nil || d.outcome.Refusal != nil {
			return d.outcome
		}
		d.next = candidates[i+1:]
		if c := &candidates[i]; !settled[c.policy.Name] {
			d.policy(c)
		}
	}
	return d.outcome
}

// dispatch judges one request (the server's validating dispatcher).
type dispatch struct {
	ctx         context.Context // of Evaluate
	engine      *Engine
	request     *admission.Request
	authorizers authorizers
	outcome     Outcome
	// next are the candidates after the current policy.
	next []candidate
	// requests caches the `request` variable by resource and kind.
	requests map[requestKey]map[string]any
	// evaluations caches, by the same keys, those without findings in another process.
	evaluations map[requestKey]*settled.Request
	// sizes are the sizes of the objects, by their version.
	sizes    map[schema.GroupVersionKind]cel.Sizes
	resolved *requestNamespace
}

func (e *Engine) dispatch(ctx context.Context, req *admission.Request) *dispatch {
	a, complete := e.cluster.Authorizer()
	return &dispatch{ctx: ctx, engine: e, request: req, authorizers: authorizers{
		request: req, answers: authorizer.NewCachingAuthorizer(a), complete: complete,
	}}
}

func (d *dispatch) policy(c *candidate) {
	h, m := c.hook, c.match(d.engine.matcher, d.request)
	open := unknownSpec(h.policy.Source, "matchConstraints", m.matches)
	switch {
	case open != "":
		d.indeterminate(h.policy, nil, "of the policy "+open)
		return
	case m.err != nil:
		d.configurationError(h.policy, nil, m.err)
		return
	case m.unknown != "":
		d.indeterminate(h.policy, nil, m.unknown)
		return
	case !m.matches:
		return
	}
	if d.engine.compiler.exhausted() {
		d.indeterminate(h.policy, nil, "the policies of this scan cost more to evaluate than one scan may; make their expressions cheaper or choose fewer --roots")
		return
	}
	kind := h.policy.Spec.ParamKind
	if kind != nil {
		if _, ok := d.engine.cluster.Resource(paramGVK(kind)); !ok {
			d.unknownParamKind(h.policy, paramGVK(kind))
			return
		}
	}
	annotations := new(annotations)
	for _, b := range h.bindings {
		if d.binding(h, b, m, annotations); d.outcome.Refusal != nil {
			return
		}
	}
	annotations.publish(h.policy.Name, &d.outcome)
}

// unknownSpec describes a field of a policy or binding that is unknown and may affect a request; it
// returns "" if there is none. match is the field with the match rules.
func unknownSpec(o *admission.Object, match string, matches bool) string {
	spec := []string{"spec"}
	for i := range o.Unknown {
		f := &o.Unknown[i]
		if in := o.Unknown[i : i+1]; !unknown.At(spec, in) && !unknown.Below(spec, in) {
			continue
		}
		if matches || len(f.Path) < 2 || f.Path[1] == match {
			return unknown.Describe(f)
		}
	}
	return ""
}

func (d *dispatch) unknownParamKind(p *Policy, kind schema.GroupVersionKind) {
	if d.engine.cluster.KnowsKinds() {
		d.configurationError(p, nil, fmt.Errorf("failed to find resource referenced by paramKind: '%v'", kind))
		return
	}
	unknown := &admission.UnknownKindError{Kind: kind}
	d.indeterminate(p, nil, fmt.Sprintf("the policy's paramKind is not known: %v", unknown))
}

func (d *dispatch) binding(h *hook, b *Binding, m match, annotations *annotations) {
	p := h.policy
	bound := d.engine.matcher.binding(d.request, b)
	open := unknownSpec(b.Source, "matchResources", bound.matches)
	switch {
	case open != "":
		d.indeterminate(p, b, "of the binding "+open)
		return
	case bound.err != nil:
		d.configurationError(p, b, bound.err)
		return
	case bound.unknown != "":
		d.indeterminate(p, b, bound.unknown)
		return
	case !bound.matches:
		return
	}
	params, err := d.engine.params(p.Spec.ParamKind, b.Spec.ParamRef, d.request.GetNamespace())
	var unknown *UnknownParamError
	if errors.As(err, &unknown) {
		d.indeterminate(p, b, unknown.Error())
		return
	}
	if err != nil {
		d.configurationError(p, b, err)
		return
	}
	var version *admission.Version
	left := d.unsettled(h, m, params)
	if len(left) > 0 {
		if version, err = d.request.Version(m.kind); err != nil {
			d.conversionError(p, b, err)
			return
		}
	}
	if err := d.namespace().err; err != nil { // looked up even if nothing is evaluated
		d.outcome.Refusal = err
		return
	}
	for _, u := range left {
		e := &evaluation{
			dispatch: d, policy: p, binding: b, param: u.param,
			compiled: d.compiled(h),
			version:  version, resource: m.resource,
		}
		if err := e.prepare(); err != nil {
			d.indeterminate(p, b, err.Error())
			continue
		}
		d.evaluate(u, e, annotations)
	}
}

// compiled returns a compiled policy. While another request compiles it, the following candidates are
// compiled, so that concurrent requests do not all wait for each policy. If the results of another process
// are read, most policies are not evaluated, so none is compiled in advance.
func (d *dispatch) compiled(h *hook) *compiled {
	if d.engine.compiler.Settled.Read() {
		return h.compiled.Get()
	}
	for i := range d.next {
		next := &d.next[i]
		if !h.compiled.IsUnderWay() {
			break
		}
		if next.compiled.IsNew() && next.match(d.engine.matcher, d.request).matches {
			next.compiled.Get()
		}
	}
	return h.compiled.Get()
}

// failurePolicy returns the failure policy of p, Fail by default.
func failurePolicy(p *Policy) v1.FailurePolicyType {
	if p.Spec.FailurePolicy != nil {
		return *p.Spec.FailurePolicy
	}
	return v1.Fail
}

// configurationError adds a decision that denies, whatever the binding's actions, unless failures are
// ignored (the server's addConfigError).
func (d *dispatch) configurationError(p *Policy, b *Binding, err error) {
	if failurePolicy(p) == v1.Ignore {
		return
	}
	what := "binding"
	if b == nil {
		what = "policy"
	}
	d.outcome.Decisions = append(d.outcome.Decisions, Decision{
		Policy: p, Binding: b, Validation: -1,
		Cause:   CauseConfiguration,
		Message: fmt.Sprintf("failed to configure %s: %v", what, err),
		Reason:  reasonInvalid,
		Actions: []v1.ValidationAction{v1.Deny},
	})
}

// conversionError adds the decision for a failed conversion. A version that only a webhook can
// convert to is not known offline; any other failure is the server's too.
func (d *dispatch) conversionError(p *Policy, b *Binding, err error) {
	var offline *admission.ConversionError
	if errors.As(err, &offline) {
		d.indeterminate(p, b, offline.Error())
		return
	}
	d.configurationError(p, b, fmt.Errorf("failed to convert object version: %w", err))
}

func (d *dispatch) indeterminate(p *Policy, b *Binding, why string) {
	d.outcome.Indeterminate = append(d.outcome.Indeterminate, Indeterminate{Policy: p, Binding: b, Why: why})
}
