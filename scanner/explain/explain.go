package explain

import (
	"context"
	"fmt"
	"slices"

	v1 "k8s.io/api/admissionregistration/v1"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/policy/typecheck"
	"github.com/preadmit/preadmit/scanner/server"
)

// Options select what to explain.
type Options struct {
	// Policy, Binding and Param select one policy, binding or param; an empty one selects all.
	Policy, Binding, Param string
	// Types includes the type checks of policies.
	Types bool
}

// maxPolicies is the maximum number of explained policies; each combination with a binding and a param
// counts.
const maxPolicies = 100

// Request explains a server's response to a request.
func Request(ctx context.Context, s *server.Server, request admission.ClientRequest, opts Options) (*report.ExplainReport, error) {
	v, err := s.Review(ctx, request)
	if err != nil {
		return nil, err
	}
	x := &explainer{ctx: ctx, server: s, request: request, verdict: &v, opts: opts}
	out := &report.ExplainReport{
		APIVersion: report.APIVersion, Kind: report.ExplainKind,
		Request: requestOf(request), Policies: []report.ExplainedPolicy{},
	}
	x.out = out
	x.secrets.reads(request.Object, request.OldObject)
	x.policies()
	out.Answer = x.answer()
	x.conceal()
	return out, ctx.Err()
}

// policies explains the policies. If one copies from a Secret to fields that others read, it explains
// all a second time: a policy that is invoked again can read what a later one copied.
func (x *explainer) policies() {
	for range 2 {
		x.out.Policies, x.out.Changes = []report.ExplainedPolicy{}, nil
		x.mutations()
		x.validations()
		if x.seal() == nil {
			return
		}
	}
}

func requestOf(request admission.ClientRequest) report.ExplainedRequest {
	r := report.ExplainedRequest{Operation: string(request.Operation), Subresource: request.Subresource}
	if o := request.Main(); o != nil {
		r.APIVersion, r.Kind = o.GroupVersionKind().GroupVersion().String(), o.GroupVersionKind().Kind
		r.Namespace, r.Name = o.Namespace(), o.Name()
		if r.Name == "" {
			r.GenerateName = o.GenerateName()
		}
	}
	if request.User != nil {
		r.User, r.Groups = request.User.GetName(), request.User.GetGroups()
	}
	return r
}

// explainer explains one request.
type explainer struct {
	ctx     context.Context
	server  *server.Server
	request admission.ClientRequest
	verdict *server.Verdict
	opts    Options
	out     *report.ExplainReport
	secrets hidden
	// before is the object before policies mutated it; nil if they did not.
	before map[string]any
}

// isSelected reports whether the options select a policy and binding.
func (x *explainer) isSelected(name, binding string) bool {
	return (x.opts.Policy == "" || x.opts.Policy == name) && (x.opts.Binding == "" || x.opts.Binding == binding)
}

// validations explains the validating policies.
func (x *explainer) validations() {
	var checker *typecheck.Checker
	for i, engine := range x.server.Engines() {
		set := x.server.PolicySets()[i]
		for _, p := range set.Policies {
			var warnings []report.ExplainedTypeWarning
			if x.opts.Types {
				if checker == nil {
					checker = typecheck.New(x.server.Cluster())
				}
				warnings = typeWarnings(checker.Check(p.ValidatingAdmissionPolicy))
			}
			subject := policy.Subject{Policy: p}
			bound := false
			for _, b := range set.Bindings {
				if b.Spec.PolicyName != p.Name {
					continue
				}
				bound = true
				subject.Binding = b
				x.policy(engine, x.verdict.Request, subject, &report.ExplainedPolicy{
					Kind: "ValidatingAdmissionPolicy", Actions: actions(b.Spec.ValidationActions), TypeWarnings: warnings,
				}, nil)
			}
			if !bound && x.isSelected(p.Name, "") {
				x.unbound(report.ExplainedPolicy{Kind: "ValidatingAdmissionPolicy", Name: p.Name, FailurePolicy: failurePolicy(p.Spec.FailurePolicy), TypeWarnings: warnings})
			}
		}
		for _, b := range set.Bindings {
			if !slices.ContainsFunc(set.Policies, func(p *policy.Policy) bool { return p.Name == b.Spec.PolicyName }) {
				x.bindsNothing(report.ExplainedPolicy{Kind: "ValidatingAdmissionPolicy", Name: b.Spec.PolicyName, Binding: b.Name, Actions: actions(b.Spec.ValidationActions)})
			}
		}
	}
}

func actions(all []v1.ValidationAction) []string {
	var texts []string
	for _, a := range all {
		texts = append(texts, string(a))
	}
	return texts
}

func failurePolicy(f *v1.FailurePolicyType) string {
	if f == nil {
		return string(v1.Fail)
	}
	return string(*f)
}

// add adds a policy if the options select it. If there are too many, it only counts it.
func (x *explainer) add(p *report.ExplainedPolicy) {
	switch {
	case !x.isSelected(p.Name, p.Binding):
	case len(x.out.Policies) < maxPolicies:
		x.out.Policies = append(x.out.Policies, *p)
	default:
		x.out.Omitted++
	}
}

// policy explains a policy with a binding, for each of its params. template has the fields common to
// all. Params that are not selected are evaluated too: the values they copy from a Secret may be in the
// response.
func (x *explainer) policy(engine *policy.Engine, req *admission.Request, s policy.Subject, template *report.ExplainedPolicy, made *applications) {
	one := *template
	one.Name, one.Binding, one.FailurePolicy = s.Policy.Name, s.Binding.Name, failurePolicy(s.Policy.Spec.FailurePolicy)
	if req == nil {
		one.Applies = "unknown"
		one.Matching = append(one.Matching, report.ExplainedMatch{Field: "spec.matchConstraints", Of: "policy", Result: "unknown", Why: "the request does not come to the policies: the server refuses it before, or does not know its kind"})
		x.add(&one)
		return
	}
	m := &matching{engine: engine, req: req, cluster: x.server.Cluster()}
	if len(one.Matching) == 0 {
		m.policy(s.Policy)
		m.binding(s.Binding)
		one.Matching = m.steps
	}
	params := []*admission.Object{nil}
	if one.Applies = appliesOf(one.Matching); one.Applies != "no" && s.Policy.Spec.ParamKind != nil {
		params = m.params(s.Policy, s.Binding)
		x.secrets.reads(params...)
		one.Matching = m.steps
		one.Applies = appliesOf(one.Matching)
	}
	if one.Applies != "yes" {
		x.add(&one)
		return
	}
	for _, param := range params {
		with := one
		with.Param, with.Matching = paramName(param), slices.Clone(one.Matching)
		s.Param = param
		var application *application
		if made != nil {
			application = made.next(with.Param)
			s.Object, s.Before = made.stages(application)
		}
		s.Seal = x.seal()
		x.evaluated(engine, req, s, &with)
		if with.Applies == "yes" && application != nil {
			application.taken, with.Changes = true, x.changes(application.writes)
		}
		if x.opts.Param == "" || x.opts.Param == with.Param || param != nil && x.opts.Param == param.Name() {
			x.add(&with)
		}
	}
}

func paramName(o *admission.Object) string {
	switch {
	case o == nil:
		return ""
	case o.Namespace() == "":
		return o.Name()
	}
	return o.Namespace() + "/" + o.Name()
}

// appliesOf combines the results of steps.
func appliesOf(steps []report.ExplainedMatch) string {
	applies := "yes"
	for _, step := range steps {
		switch {
		case step.Result == "no":
			return "no"
		case step.Result != "yes":
			applies = "unknown"
		}
	}
	return applies
}

// evaluated explains the expressions of a policy that matches.
func (x *explainer) evaluated(engine *policy.Engine, req *admission.Request, s policy.Subject, one *report.ExplainedPolicy) {
	w, err := engine.Watch(x.ctx, req, s)
	if err != nil {
		one.Applies = "unknown"
		one.Notes = append(one.Notes, "the expressions cannot be evaluated: "+err.Error())
		return
	}
	one.Expressions = masked(w)
	x.secrets.takes(s.Policy.Name, w)
	for i := range w.MatchConditions {
		c := &w.MatchConditions[i]
		step := report.ExplainedMatch{Field: fmt.Sprintf("spec.matchConditions[%d]", i), Of: "policy", Result: "yes", Why: fmt.Sprintf("condition %q is true", c.Name)}
		e := one.Expressions[i] // match conditions come first
		switch {
		case e.State == report.StateError:
			step.Result, step.Why = "error", e.Why
		case e.State == report.StateUnknown:
			step.Result, step.Why = "unknown", e.Why
		case c.Evaluated && text(c.Value) == "false":
			step.Result, step.Why, step.Decides = "no", fmt.Sprintf("condition %q is false", c.Name), true
		}
		one.Matching = append(one.Matching, step)
	}
	one.Applies = appliesOf(one.Matching)
	for _, c := range w.Costs {
		one.Costs = append(one.Costs, report.ExplainedCost{Group: c.Group, Cost: int(c.Cost), Budget: int(c.Budget), Exhausted: c.Exhausted})
	}
	one.Notes = append(one.Notes, w.Assumed...)
}

// skipped returns why expressions that did not run were not evaluated.
func skipped(w *policy.Watch) string {
	for _, c := range w.MatchConditions {
		switch {
		case c.Err != nil:
			return fmt.Sprintf("match condition %q fails", c.Name)
		case c.Evaluated && text(c.Value) == "false":
			return fmt.Sprintf("match condition %q is false", c.Name)
		}
	}
	return "the cost budget is exhausted"
}

// expressions returns the expressions of a policy in reading order.
func expressions(w *policy.Watch) []report.ExplainedExpression {
	var all []report.ExplainedExpression
	add := func(watched []policy.Watched, why string) {
		for i := range watched {
			if watched[i].Expression != "" {
				all = append(all, expression(&watched[i], why))
			}
		}
	}
	why := skipped(w)
	add(w.MatchConditions, why)
	add(w.Variables, "no expression that was evaluated reads it")
	for i := range w.Validations {
		add(w.Validations[i:i+1], why)
		if i < len(w.Messages) {
			add(w.Messages[i:i+1], why)
		}
	}
	add(w.AuditAnnotations, why)
	add(w.Mutations, "the policy does not come to this mutation")
	return all
}

// expression explains one expression.
func expression(w *policy.Watched, why string) report.ExplainedExpression {
	e := report.ExplainedExpression{Field: w.Field, Name: w.Name, Text: w.Expression, State: report.StateSkipped, Why: why, Cost: int(w.Cost)}
	if !w.Evaluated {
		return e
	}
	p := report.ExplainedPart{}
	t := &tree{expression: w}
	switch {
	case w.Err != nil:
		p.State, p.Why = report.StateError, clip(w.Err.Error(), 4*maxText)
	default:
		t.settle(&p, w.Value)
	}
	e.State, e.Value, e.Why = p.State, p.Value, p.Why
	if whole := partsOf(w); len(whole) == 1 {
		e.Parts = whole
	}
	return e
}
