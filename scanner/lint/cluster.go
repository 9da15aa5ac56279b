package lint

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy"
)

// cluster holds one cluster and the remarks of the rules about it.
type cluster struct {
	*scanner.Surveyed
	survey *scanner.Survey
	// linted are the policies and bindings to check, in order. Others are not checked, but other
	// objects can refer to them.
	linted   []*admission.Object
	policies []*policySubject
	bindings []*bindingSubject
	refusals []policy.Refusal
	// complete is set if all roots rendered, so that an object that was not found does not exist.
	complete bool
	// author creates the policies and bindings; nil omits rules about the author.
	author user.Info

	coverage  *policy.Coverage
	resources []admission.Resource

	// rule is the current rule.
	rule    report.LintRule
	remarks []remark
	// err is the error of a check that could not be completed.
	err error
}

// policySubject is a policy that the API server accepts. For a mutating policy, Policy is one with
// the same matchConstraints.
type policySubject struct {
	*policy.Policy
	// mutation is nil for a validating policy.
	mutation    *policy.Mutation
	linted      bool
	expressions []expression
	// matched and exempt are the requests that it can match; see policy.Coverage.
	matched, exempt []policy.RequestKind
	bindings        []*bindingSubject
}

// bindingSubject is a binding that the API server accepts. For a binding of a mutating policy,
// Binding is one with the same matchResources.
type bindingSubject struct {
	*policy.Binding
	// mutation is nil for a binding of a validating policy.
	mutation *policy.MutationBinding
	linted   bool
	policies []*policySubject // with its policyName; several if roots differ
}

// newCluster loads the policies and bindings of a cluster. Those outside of under, a directory or
// file of the tree, are not linted.
func newCluster(ctx context.Context, survey *scanner.Survey, of *scanner.Surveyed, under string) *cluster {
	c := &cluster{
		Surveyed: of, survey: survey, complete: survey.Complete(),
		coverage: policy.NewCoverage(of.State), resources: of.State.Resources(),
	}
	linted := map[*admission.Object]bool{}
	for _, o := range of.Policies {
		if survey.Under(ctx, o, under) {
			c.linted = append(c.linted, o)
			linted[o] = true
		}
	}
	for _, r := range of.Loaded.Refusals {
		if linted[r.Object] {
			c.refusals = append(c.refusals, r)
		}
	}
	for _, p := range of.Loaded.Set.Policies {
		c.take(&policySubject{Policy: p, linted: linted[p.Source]})
	}
	for _, m := range of.Loaded.Set.Mutations {
		c.take(&policySubject{Policy: m.Matching(), mutation: m, linted: linted[m.Source]})
	}
	for _, b := range of.Loaded.Set.Bindings {
		c.bind(&bindingSubject{Binding: b, linted: linted[b.Source]})
	}
	for _, b := range of.Loaded.Set.MutationBindings {
		c.bind(&bindingSubject{Binding: b.Matching(), mutation: b, linted: linted[b.Source]})
	}
	return c
}

// take adds a policy.
func (c *cluster) take(p *policySubject) {
	p.expressions = expressionsOf(p)
	p.matched, p.exempt = c.coverage.Policy(p.ValidatingAdmissionPolicy)
	c.policies = append(c.policies, p)
}

// kind returns the kind of a policy.
func (p *policySubject) kind() schema.GroupKind {
	if p.mutation != nil {
		return kinds.Mutation
	}
	return kinds.Policy
}

// binds returns the kind of the policies of a binding.
func (b *bindingSubject) binds() schema.GroupKind {
	if b.mutation != nil {
		return kinds.Mutation
	}
	return kinds.Policy
}

// bind connects a binding with its policies.
func (c *cluster) bind(b *bindingSubject) {
	c.bindings = append(c.bindings, b)
	for _, p := range c.policies {
		if p.kind() == b.binds() && p.Name == b.Spec.PolicyName {
			p.bindings = append(p.bindings, b)
			b.policies = append(b.policies, p)
		}
	}
}

func isBinding(o *admission.Object) bool {
	return kinds.IsBinding(o.GroupVersionKind().GroupKind())
}

// lintedPolicies returns the policies to check.
func (c *cluster) lintedPolicies() []*policySubject {
	return slices.DeleteFunc(slices.Clone(c.policies), func(p *policySubject) bool { return !p.linted })
}

// lintedBindings returns the bindings to check.
func (c *cluster) lintedBindings() []*bindingSubject {
	return slices.DeleteFunc(slices.Clone(c.bindings), func(b *bindingSubject) bool { return !b.linted })
}

// add adds a remark of the current rule.
func (c *cluster) add(r remark) {
	r.rule = c.rule
	c.remarks = append(c.remarks, r)
}

// missing adds a remark that something does not exist. It is only a note if a root does not render,
// since that root may define it.
func (c *cluster) missing(r remark) {
	if !c.complete {
		r.severity = report.SeverityNote
		r.hint += "; not all roots render, and it may be in one that does not"
	}
	c.add(r)
}

// finding returns a remark with its line.
func (c *cluster) finding(ctx context.Context, r remark) report.LintFinding {
	f := report.LintFinding{
		Rule: r.rule.ID, Severity: cmp.Or(r.severity, r.rule.Severity), Message: r.message, Hint: r.hint,
		Object: c.ObjectOf(r.object), Target: c.Target, Root: c.survey.Root(r.object),
	}
	if r.line > 0 {
		f.Location = c.survey.LocateIn(ctx, r.object, r.fields[0], r.line, r.column)
	} else {
		f.Location = c.survey.Locate(ctx, r.object, r.fields...)
	}
	return f
}
