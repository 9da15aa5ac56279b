package scanner

import (
	"context"
	"fmt"
	"slices"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/gaps"
	"github.com/preadmit/preadmit/scanner/lines"
	"github.com/preadmit/preadmit/scanner/server"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// decided is the verdict of a server on a workload.
type decided struct {
	server  *server.Server
	verdict server.Verdict
}

// brood is what the controllers create of a workload, one object of each kind,
// from the workload's own down to the Pod.
type brood struct {
	members []member
	// cut is set when the server refused the workload or a member, so that what would
	// come of it never does.
	cut bool
}

// member is an object of a brood and what is said about it.
type member struct {
	server.Verdict
	// kind is zero when the object could not even be made.
	kind schema.GroupVersionKind
	// lineage ends with the member itself.
	lineage []*admission.Generated
}

// generated is what the controller sends; nil for the zero member.
func (m member) generated() *admission.Generated {
	if len(m.lineage) == 0 {
		return nil
	}
	return m.lineage[len(m.lineage)-1]
}

// breed follows a workload down to its Pod. A denial by a policy does not end it:
// who mends the workload wants to know all there is.
func (t decided) breed(ctx context.Context) (brood, error) {
	b := brood{cut: !t.verdict.Reached()}
	lineage := []*admission.Generated{}
	for req := t.verdict.Request; req != nil; {
		g, err := generate(req)
		if err != nil {
			b.cut = true
			b.members = append(b.members, member{Verdict: server.Verdict{Unknown: err}})
			return b, nil
		}
		if g == nil {
			break
		}
		lineage = append(slices.Clone(lineage), g)
		v, err := t.server.Review(ctx, g.Ask())
		if err != nil {
			return b, err
		}
		b.cut = !v.Reached()
		b.members = append(b.members, member{Verdict: v, kind: g.Object.GroupVersionKind(), lineage: lineage})
		req = v.Request
	}
	return b, nil
}

// generate is Request.Generated, in which a panic is a failure to judge.
func generate(req *admission.Request) (g *admission.Generated, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("this object makes the code of its controller panic: %v", p)
		}
	}()
	return req.Generated()
}

// of is the member of a kind, zero if there is none.
func (b brood) of(kind schema.GroupVersionKind) (member, bool) {
	i := slices.IndexFunc(b.members, func(m member) bool { return m.kind == kind })
	if i < 0 {
		return member{}, false
	}
	return b.members[i], true
}

// offspring judges what the controllers create of a workload that is created or
// updated, if anybody judges such objects.
func (r *review) offspring(ctx context.Context, inForce, final, before decided) error {
	if r.Head == nil || !r.Workloads || !r.bears(r.InForce, true) && !r.bears(r.Proposed, true) {
		return nil
	}
	first, err := inForce.breed(ctx)
	if err != nil {
		return err
	}
	last := first
	if final.server != inForce.server {
		if last, err = final.breed(ctx); err != nil {
			return err
		}
		r.countEvaluations(last)
	}
	r.countEvaluations(first)
	was, err := before.breed(ctx)
	if err != nil {
		return err
	}
	r.report(first, last, was)
	return nil
}

// offspringAgain judges what the controllers create of a workload that did not
// change, by what did.
func (r *review) offspringAgain(ctx context.Context, final, before decided) error {
	if !r.Workloads || !r.bears(final.server, r.Reach.Namespaces[r.Key.Namespace]) {
		return nil
	}
	if before.verdict.Request == nil {
		v, err := r.judgeBefore(ctx, before.server)
		if err != nil {
			return err
		}
		before.verdict = *v
	}
	last, err := final.breed(ctx)
	if err != nil {
		return err
	}
	r.countEvaluations(last)
	was, err := before.breed(ctx)
	if err != nil {
		return err
	}
	r.report(brood{}, last, was)
	return nil
}

// bears reports whether the server may have a say on what is created of the
// reviewed object: by a policy or, when asked for, by the server's own plugins.
func (r *review) bears(s *server.Server, own bool) bool {
	resources := admission.GeneratedBy(r.Object().GroupVersionKind().GroupKind())
	return s.MayMatchCreated(resources, nil) || own && len(resources) > 0 && s.Cluster().JudgesPods(r.Key.Namespace)
}

func (r *review) countEvaluations(b brood) {
	for _, m := range b.members {
		r.out.evaluations += m.Evaluations
	}
}

// report makes findings of the workload of what is said about its brood.
func (r *review) report(inForce, final, before brood) {
	r.out.requests += len(final.members)
	kinds := []schema.GroupVersionKind{}
	for _, b := range []brood{final, inForce, before} {
		for _, m := range b.members {
			kinds = append(kinds, m.kind)
		}
	}
	for _, kind := range unique(kinds) {
		r.reportKind(kind, inForce, final, before)
	}
}

func (r *review) reportKind(kind schema.GroupVersionKind, inForce, final, before brood) {
	first, _ := inForce.of(kind)
	last, there := final.of(kind)
	was, _ := before.of(kind)
	// What is not created because something before it is refused is not resolved.
	settled := last.Reached() && (there || !final.cut) && !r.Same
	c := &review{RootReview: r.RootReview, Pair: r.Pair, user: r.user}
	c.refusedMember(last, was, settled)
	c.decisions(first.Verdict, last.Verdict, &was.Verdict)
	if settled {
		c.resolved(first.Verdict, last.Verdict, &was.Verdict)
	}
	r.adoptFindings(c.out.findings, last, first, was)
	r.adoptGaps(c.out.gaps, kind)
}

// refusedMember reports that the server refuses what a controller creates, did so
// before, or that there is no telling.
func (r *review) refusedMember(last, was member, settled bool) {
	switch {
	case last.Unknown != nil:
		r.indeterminate(gaps.Object, "", last.Unknown.Error())
	case last.Refusal != nil:
		r.add(refused(r.Pair, last.Refusal), was.Refusal != nil && was.words() == last.words())
	case was.Refusal != nil && settled:
		r.resolve(refused(r.Pair, was.Refusal))
	}
}

// adoptFindings makes the findings about a member of a brood ones of the workload.
func (r *review) adoptFindings(findings []lines.Finding, last, first, was member) {
	for _, f := range findings {
		m := last
		switch {
		case f.Status == report.StatusResolved:
			m = was
		case m.generated() == nil:
			m = first
		}
		f.Generated, f.Lineage = m.named(r.Key.Namespace), m.lineage
		r.out.findings = append(r.out.findings, f)
	}
}

// adoptGaps does the same with what could not be judged, unless that is known of
// the workload already: what is not known of its namespace is not known of its
// Pod's.
func (r *review) adoptGaps(list []gaps.Gap, kind schema.GroupVersionKind) {
	for _, g := range list {
		if slices.ContainsFunc(r.out.gaps, func(o gaps.Gap) bool { return o.Policy == g.Policy && o.Identity == g.Identity }) {
			continue
		}
		if kind.Kind != "" {
			g.Why = "the " + kind.Kind + " it creates: " + g.Why
		}
		r.out.gaps = append(r.out.gaps, g)
	}
}

// named names what the controller sends.
func (m member) named(namespace string) *report.Object {
	o := m.generated().Object
	return change.ObjectOf(o, admission.Key{Namespace: namespace})
}

// words is a refusal's message without the name, which follows from the content.
func (m member) words() string { return report.Unnamed(m.Refusal.ErrStatus.Message, m.named("")) }
