package explain

import (
	"context"
	"fmt"
	"slices"

	v1 "k8s.io/api/admissionregistration/v1"
	apiserver "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/diff"
	"github.com/preadmit/preadmit/scanner/mutation"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/policy/typecheck"
	"github.com/preadmit/preadmit/scanner/server"
)

// Options say what to explain.
type Options struct {
	// Policy, Binding and Param limit it to one policy, binding or param; all when they are empty.
	Policy, Binding, Param string
	// Types asks for the type checks of policies.
	Types bool
}

// maxPolicies is how many policies, with each of their bindings and params, are explained.
const maxPolicies = 100

// Request explains what a server says to a request.
func Request(ctx context.Context, s *server.Server, ask admission.Ask, opts Options) (*report.ExplainReport, error) {
	v, err := s.Review(ctx, ask)
	if err != nil {
		return nil, err
	}
	x := &explainer{ctx: ctx, server: s, ask: ask, verdict: &v, opts: opts}
	out := &report.ExplainReport{
		APIVersion: report.APIVersion, Kind: report.ExplainKind,
		Request: requestOf(ask), Answer: x.answer(), Policies: []report.ExplainedPolicy{},
	}
	x.out = out
	x.mutations()
	x.validations()
	return out, ctx.Err()
}

func requestOf(ask admission.Ask) report.ExplainedRequest {
	r := report.ExplainedRequest{Operation: string(ask.Operation), Subresource: ask.Subresource}
	if o := ask.Main(); o != nil {
		r.APIVersion, r.Kind = o.GroupVersionKind().GroupVersion().String(), o.GroupVersionKind().Kind
		r.Namespace, r.Name = o.Namespace(), o.Name()
	}
	if ask.User != nil {
		r.User, r.Groups = ask.User.GetName(), ask.User.GetGroups()
	}
	return r
}

// explainer explains one request.
type explainer struct {
	ctx     context.Context
	server  *server.Server
	ask     admission.Ask
	verdict *server.Verdict
	opts    Options
	out     *report.ExplainReport
}

// answer is what the server says, without what it quotes of a Secret.
func (x *explainer) answer() report.ExplainedAnswer {
	v := x.verdict
	r, told := v.Response(), v.Told()
	a := report.ExplainedAnswer{
		Allowed: r.Allowed, Code: int(r.Code), Reason: string(r.Reason), Message: x.conceal(told, r.Message),
		AuditAnnotations: map[string]string{}, Indeterminate: v.Open(),
	}
	for _, w := range r.Warnings {
		a.Warnings = append(a.Warnings, x.conceal(told, w))
	}
	for key, value := range r.AuditAnnotations {
		if a.AuditAnnotations[key] = value; x.secret() {
			a.AuditAnnotations[key] = policy.Masked
		}
	}
	return a
}

func (x *explainer) conceal(told map[string]string, text string) string {
	if known, ok := told[text]; ok {
		return known
	}
	return policy.ConcealFor(text, x.ask.Object, x.ask.OldObject)
}

// secret reports whether the request is about a Secret.
func (x *explainer) secret() bool {
	o := x.ask.Main()
	return o != nil && o.GroupVersionKind().Group == "" && o.GroupVersionKind().Kind == "Secret"
}

// wanted reports whether the options ask for a policy and binding.
func (x *explainer) wanted(name, binding string) bool {
	return (x.opts.Policy == "" || x.opts.Policy == name) && (x.opts.Binding == "" || x.opts.Binding == binding)
}

// validations explains the policies that validate.
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
				if subject.Binding = b; x.wanted(p.Name, b.Name) {
					x.policy(engine, x.verdict.Request, subject, &report.ExplainedPolicy{
						Kind: "ValidatingAdmissionPolicy", Actions: actions(b.Spec.ValidationActions), TypeWarnings: warnings,
					})
				}
			}
			if !bound && x.wanted(p.Name, "") {
				x.unbound(report.ExplainedPolicy{Kind: "ValidatingAdmissionPolicy", Name: p.Name, FailurePolicy: failurePolicy(p.Spec.FailurePolicy), TypeWarnings: warnings})
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

func (x *explainer) unbound(p report.ExplainedPolicy) {
	p.Applies = "no"
	p.Matching = []report.ExplainedMatch{{Field: "metadata.name", Of: "policy", Result: "no", Decides: true, Why: fmt.Sprintf("no binding has the policyName %q, so the policy takes no effect", p.Name)}}
	x.add(&p)
}

// add adds a policy, unless there are too many.
func (x *explainer) add(p *report.ExplainedPolicy) {
	if len(x.out.Policies) < maxPolicies {
		x.out.Policies = append(x.out.Policies, *p)
	}
}

// mutations explains the policies that change the object.
func (x *explainer) mutations() {
	sets := x.server.PolicySets()
	if len(sets) == 0 || len(sets[0].Mutations) == 0 {
		return
	}
	ask := x.ask
	ask.Mutator = nil
	req, _, err := x.server.Cluster().Prepare(x.ctx, ask)
	if err != nil {
		req = x.verdict.Request
	}
	writes := x.verdict.Mutations
	for _, m := range sets[0].Mutations {
		bound := false
		applied := 0
		for _, b := range sets[0].MutationBindings {
			if b.Spec.PolicyName != m.Name {
				continue
			}
			bound = true
			if !x.wanted(m.Name, b.Name) {
				continue
			}
			subject := policy.Subject{Policy: m.Matching(), Binding: b.Matching(), Mutations: m.Spec.Mutations}
			subject.Object, subject.Before = stages(writes, m.Name, len(m.Spec.Mutations), applied)
			one := report.ExplainedPolicy{Kind: "MutatingAdmissionPolicy", Changes: changesOf(writes, m.Name, applied)}
			if x.ask.Operation == apiserver.Delete {
				one.Matching = []report.ExplainedMatch{{Field: "spec.matchConstraints", Of: "policy", Result: "no", Decides: true, Why: "an API server asks no MutatingAdmissionPolicy about a DELETE"}}
			}
			if x.policy(x.server.Engines()[0], req, subject, &one); one.Applies == "yes" {
				applied++
			}
		}
		if !bound && x.wanted(m.Name, "") {
			x.unbound(report.ExplainedPolicy{Kind: "MutatingAdmissionPolicy", Name: m.Name, FailurePolicy: failurePolicy(m.Spec.FailurePolicy)})
		}
	}
	if len(writes) > 0 {
		x.out.Changes = diff.Lines(writes[0].Before, writes[len(writes)-1].After)
	}
}

// of returns the mutations that the n-th application of a policy made.
func of(writes []mutation.Write, name string, n int) []*mutation.Write {
	var all []*mutation.Write
	round, last := -1, -1
	for i := range writes {
		w := &writes[i]
		if w.Policy.Name != name {
			last = -1
			continue
		}
		if w.Mutation <= last || last < 0 {
			round++
		}
		if last = w.Mutation; round == n {
			all = append(all, w)
		}
	}
	return all
}

// stages returns the object when a policy matched it, and when each of its mutations was made.
func stages(writes []mutation.Write, name string, mutations, n int) (object map[string]any, before []map[string]any) {
	before = make([]map[string]any, mutations)
	for _, w := range of(writes, name, n) {
		if object == nil {
			object = w.Before
		}
		before[w.Mutation] = w.Before
	}
	if object == nil { // it is as the policies before left it
		for i := range writes {
			if writes[i].Policy.Name < name {
				object = writes[i].After
			}
		}
	}
	return object, before
}

func changesOf(writes []mutation.Write, name string, n int) []string {
	all := of(writes, name, n)
	if len(all) == 0 {
		return nil
	}
	return diff.Lines(all[0].Before, all[len(all)-1].After)
}

// policy explains a policy with a binding, and each of its params.
func (x *explainer) policy(engine *policy.Engine, req *admission.Request, s policy.Subject, one *report.ExplainedPolicy) {
	one.Name, one.Binding, one.FailurePolicy = s.Policy.Name, s.Binding.Name, failurePolicy(s.Policy.Spec.FailurePolicy)
	if req == nil {
		one.Applies = "unknown"
		one.Matching = append(one.Matching, report.ExplainedMatch{Field: "spec.matchConstraints", Of: "policy", Result: "unknown", Why: "the request does not come to the policies: the server refuses it before, or does not know its kind"})
		x.add(one)
		return
	}
	m := &matching{engine: engine, req: req, cluster: x.server.Cluster()}
	decided := len(one.Matching) > 0
	if !decided {
		m.policy(s.Policy)
		m.binding(s.Binding)
		one.Matching = m.steps
	}
	params := []*admission.Object{nil}
	if one.Applies = appliesOf(one.Matching); one.Applies != "no" && s.Policy.Spec.ParamKind != nil {
		params = m.params(s.Policy, s.Binding)
		one.Matching = m.steps
		one.Applies = appliesOf(one.Matching)
	}
	if one.Applies != "yes" {
		x.add(one)
		return
	}
	for _, param := range params {
		name := paramName(param)
		if x.opts.Param != "" && x.opts.Param != name && !(param != nil && x.opts.Param == param.Name()) {
			continue
		}
		with := *one
		with.Param, with.Matching = name, slices.Clone(one.Matching)
		s.Param = param
		x.evaluated(engine, req, s, &with)
		x.add(&with)
		*one = with
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

// appliesOf sums up what decides.
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
	for i := range w.MatchConditions {
		c := &w.MatchConditions[i]
		step := report.ExplainedMatch{Field: fmt.Sprintf("spec.matchConditions[%d]", i), Of: "policy", Result: "yes", Why: fmt.Sprintf("condition %q is true", c.Name)}
		e := expression(c, "")
		switch {
		case e.State == report.StateError:
			step.Result, step.Why = "error", e.Why
		case e.State == report.StateUnknown:
			step.Result, step.Why = "unknown", e.Why
		case e.Value == "false":
			step.Result, step.Why, step.Decides = "no", fmt.Sprintf("condition %q is false", c.Name), true
		}
		one.Matching = append(one.Matching, step)
	}
	one.Applies = appliesOf(one.Matching)
	one.Expressions = masked(w)
	for _, c := range w.Costs {
		one.Costs = append(one.Costs, report.ExplainedCost{Group: c.Group, Cost: int(c.Cost), Budget: int(c.Budget), Exhausted: c.Exhausted})
	}
	one.Notes = append(one.Notes, w.Assumed...)
}

// skipped says why expressions of a group are not evaluated.
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

// expressions are those of a policy in the order in which one reads them.
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
