package lint

import (
	"context"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy"
)

// cluster is what is known of one cluster, and what was found so far.
type cluster struct {
	*scanner.Surveyed
	survey *scanner.Survey
	// linted are the policies and bindings to look at, in order; the others only
	// count as there.
	linted   []*admission.Object
	policies []*policySubject
	bindings []*bindingSubject
	refusals []policy.Refusal
	// complete: all roots rendered, so that what is not found is not there.
	complete bool
	remarks  []remark

	coverage  *policy.Coverage
	resources []admission.Resource
}

// policySubject is a policy that the API server accepts.
type policySubject struct {
	*policy.Policy
	linted bool
	// matched and exempt are the requests it can match; see policy.Coverage.
	matched, exempt []policy.Sight
	bindings        []*bindingSubject
}

// bindingSubject is a binding that the API server accepts.
type bindingSubject struct {
	*policy.Binding
	linted   bool
	policies []*policySubject // of its policyName; several if roots differ
}

// remark is a finding that has no place yet.
type remark struct {
	rule     string
	severity report.Severity // empty for the rule's
	object   *admission.Object
	// fields are where to point: the first that was written.
	fields []string
	// line and column, from 1, are inside the first field, when not 0.
	line, column  int
	message, hint string
}

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
	set, refusals := policy.Load(ctx, of.State, of.User, of.Policies)
	for _, r := range refusals {
		if linted[r.Object] {
			c.refusals = append(c.refusals, r)
		}
	}
	for _, p := range set.Policies {
		s := &policySubject{Policy: p, linted: linted[p.Source]}
		s.matched, s.exempt = c.coverage.Policy(p.ValidatingAdmissionPolicy)
		c.policies = append(c.policies, s)
	}
	for _, b := range set.Bindings {
		c.bind(&bindingSubject{Binding: b, linted: linted[b.Source]})
	}
	return c
}

// bind connects a binding with its policies.
func (c *cluster) bind(b *bindingSubject) {
	c.bindings = append(c.bindings, b)
	for _, p := range c.policies {
		if p.Name == b.Spec.PolicyName {
			p.bindings = append(p.bindings, b)
			b.policies = append(b.policies, p)
		}
	}
}

func isBinding(o *admission.Object) bool {
	return o.GroupVersionKind().GroupKind() == kinds.Binding
}

func (c *cluster) add(r remark) { c.remarks = append(c.remarks, r) }

// missing adds a remark that something is not there. It is a note when roots do not
// render: it may be in one of them.
func (c *cluster) missing(r remark) {
	if !c.complete {
		r.severity = report.SeverityNote
		r.hint += "; not all roots render, and it may be in one that does not"
	}
	c.add(r)
}

// finding gives a remark its place.
func (c *cluster) finding(ctx context.Context, r remark) report.LintFinding {
	f := report.LintFinding{
		Rule: r.rule, Severity: r.severity, Message: r.message, Hint: r.hint,
		Object: c.ObjectOf(r.object), Target: c.Target, Root: c.survey.Root(r.object),
	}
	if f.Severity == "" {
		f.Severity = severityOf(r.rule)
	}
	if r.line > 0 {
		f.Location = c.survey.LocateIn(ctx, r.object, r.fields[0], r.line, r.column)
	} else {
		f.Location = c.survey.Locate(ctx, r.object, r.fields...)
	}
	return f
}
