package scanner

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	apiserver "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/controllers"
	"github.com/preadmit/preadmit/scanner/gaps"
	"github.com/preadmit/preadmit/scanner/lines"
	"github.com/preadmit/preadmit/scanner/mutation"
	"github.com/preadmit/preadmit/scanner/server"
)

// decided is the verdict of a server on a workload.
type decided struct {
	server  *server.Server
	verdict server.Verdict
}

// expansion is what the controllers create of a workload, one object of each kind,
// from what the workload's own controller creates down to the Pod.
type expansion struct {
	objects []created
	// cut is set when the server refused the workload or one of the objects, so that what
	// would be created of it is not.
	cut bool
}

// created is an object that a controller creates, and the verdict on it.
type created struct {
	server.Verdict
	// kind is zero when the object could not even be made.
	kind schema.GroupVersionKind
	// lineage are the objects from what the workload's own controller creates to this one.
	lineage []*controllers.Generated
	// changes are what policies changed by: the workload, then each of lineage.
	changes [][]mutation.Write
}

// generated returns what the controller sends; nil for the zero value.
func (m created) generated() *controllers.Generated {
	if len(m.lineage) == 0 {
		return nil
	}
	return m.lineage[len(m.lineage)-1]
}

// expand follows a workload down to its Pod. A denial by a policy does not end it:
// the author of the workload needs all denials. beside is what the same server said to what is
// created of the other version of the workload; the zero value where there is none.
func (t decided) expand(ctx context.Context, beside expansion) (expansion, error) {
	b := expansion{cut: !t.verdict.Reached()}
	lineage, changes := []*controllers.Generated{}, [][]mutation.Write{t.verdict.Mutations}
	for req := t.verdict.Request; req != nil; {
		g, err := generate(req)
		if err != nil {
			b.cut = true
			b.objects = append(b.objects, created{Verdict: server.Verdict{Unknown: err}})
			return b, nil
		}
		if g == nil {
			break
		}
		lineage = append(slices.Clone(lineage), g)
		v, err := t.server.ReviewBeside(ctx, g.Ask(), beside.verdict(g.Object.GroupVersionKind()))
		if err != nil {
			return b, err
		}
		b.cut, changes = !v.Reached(), append(slices.Clone(changes), v.Mutations)
		b.objects = append(b.objects, created{Verdict: v, kind: g.Object.GroupVersionKind(), lineage: lineage, changes: changes})
		req = v.Request
	}
	return b, nil
}

// generate is controllers.Generate, in which a panic is a failure to judge.
func generate(req *admission.Request) (g *controllers.Generated, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("this object makes the code of its controller panic: %v", p)
		}
	}()
	return controllers.Generate(req)
}

// of returns the object of a kind; ok is false when there is none.
func (b expansion) of(kind schema.GroupVersionKind) (object created, ok bool) {
	i := slices.IndexFunc(b.objects, func(m created) bool { return m.kind == kind })
	if i < 0 {
		return created{}, false
	}
	return b.objects[i], true
}

// verdict returns the verdict on the object of a kind; nil when there is none.
func (b expansion) verdict(kind schema.GroupVersionKind) *server.Verdict {
	object, ok := b.of(kind)
	if !ok {
		return nil
	}
	return &object.Verdict
}

// judgeCreated judges what the controllers create of a workload that is created or
// updated, if anybody judges such objects.
func (r *review) judgeCreated(ctx context.Context, inForce, final, before decided) error {
	if r.Head == nil || !r.Workloads || !r.mayJudgeCreated(r.InForce, true) && !r.mayJudgeCreated(r.Proposed, true) {
		return nil
	}
	first, err := inForce.expand(ctx, expansion{})
	if err != nil {
		return err
	}
	last := first
	if final.server != inForce.server {
		if last, err = final.expand(ctx, expansion{}); err != nil {
			return err
		}
		r.countEvaluations(last)
	}
	r.countEvaluations(first)
	beside := expansion{}
	if before.server == final.server {
		beside = last
	}
	was, err := before.expand(ctx, beside)
	if err != nil {
		return err
	}
	r.noteReadsCreated(final.server, last, was)
	r.report(first, last, was)
	return nil
}

// judgeCreatedAgain judges what the controllers create of a workload that did not
// change, by what did.
func (r *review) judgeCreatedAgain(ctx context.Context, final, before decided) error {
	if !r.Workloads || r.Head == nil || !r.mayJudgeCreated(final.server, r.Reach.Namespaces[r.Key.Namespace]) {
		return nil
	}
	if before.verdict.Request == nil {
		v, err := r.judgeBefore(ctx, before.server, nil)
		if err != nil {
			return err
		}
		before.verdict = *v
	}
	last, err := final.expand(ctx, expansion{})
	if err != nil {
		return err
	}
	r.countEvaluations(last)
	was, err := before.expand(ctx, expansion{})
	if err != nil {
		return err
	}
	r.report(expansion{}, last, was)
	return nil
}

// mayJudgeCreated reports whether the server may have a say on what is created of the
// reviewed object: by a policy or, when asked for, by the server's own plugins.
func (r *review) mayJudgeCreated(s *server.Server, own bool) bool {
	resources := controllers.GeneratedBy(r.Object().GroupVersionKind().GroupKind())
	return s.MayMatchCreated(resources, nil) || own && len(resources) > 0 && controllers.JudgesPods(s.Cluster(), r.Key.Namespace)
}

func (r *review) countEvaluations(b expansion) {
	for _, m := range b.objects {
		r.out.evaluations += m.Evaluations
	}
}

// report makes findings of the workload of the verdicts on what is created of it.
func (r *review) report(inForce, final, before expansion) {
	r.out.requests += len(final.objects)
	for i := range final.objects {
		if m := &final.objects[i]; m.generated() != nil {
			r.capture(&m.Verdict, string(apiserver.Create), m.named(r.Key.Namespace))
		}
	}
	kinds := []schema.GroupVersionKind{}
	for _, b := range []expansion{final, inForce, before} {
		for _, m := range b.objects {
			kinds = append(kinds, m.kind)
		}
	}
	for _, kind := range unique(kinds) {
		r.reportKind(kind, inForce, final, before)
	}
}

func (r *review) reportKind(kind schema.GroupVersionKind, inForce, final, before expansion) {
	first, _ := inForce.of(kind)
	last, there := final.of(kind)
	was, _ := before.of(kind)
	// What is not created because something before it is refused is not resolved.
	settled := last.Reached() && (there || !final.cut) && !r.Same
	c := &review{RootReview: r.RootReview, Pair: r.Pair, user: r.user, was: r.was}
	c.createdRefusal(last, was, settled)
	c.decisions(first.Verdict, last.Verdict, &was.Verdict)
	if settled {
		c.resolved(first.Verdict, last.Verdict, &was.Verdict)
	}
	r.createdFindings(c.out.findings, last, first, was)
	r.createdGaps(c.out.gaps, kind)
}

// createdRefusal reports that the server refuses what a controller creates, did so
// before, or that there is no telling.
func (r *review) createdRefusal(last, was created, settled bool) {
	switch {
	case last.Unknown != nil:
		r.indeterminate(gaps.Object, "", last.Unknown.Error())
	case last.Refusal != nil:
		r.add(refusedBy(r.Pair, &last.Verdict), was.Refusal != nil && was.words() == last.words())
	case was.Refusal != nil && settled:
		r.resolve(refusedBy(r.Pair, &was.Verdict))
	}
	r.notStored(last.Verdict, &was.Verdict)
}

// createdFindings makes findings about a created object findings of the workload.
func (r *review) createdFindings(findings []lines.Finding, last, first, was created) {
	for _, f := range findings {
		m := last
		switch {
		case f.Status == report.StatusResolved:
			m = was
		case m.generated() == nil:
			m = first
		}
		f.Generated, f.Lineage, f.Mutations = m.named(r.Key.Namespace), m.lineage, m.changes
		f.Ask = new(m.generated().Ask())
		r.out.findings = append(r.out.findings, f)
	}
}

// createdGaps does the same with what could not be judged, unless that is known of
// the workload already: what is not known of its namespace is not known of its
// Pod's.
func (r *review) createdGaps(list []gaps.Gap, kind schema.GroupVersionKind) {
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

// named returns the name of what the controller sends.
func (m created) named(namespace string) *report.Object {
	o := m.generated().Object
	return change.ObjectOf(o, admission.Key{Namespace: namespace})
}

// words returns a refusal's message without the name, which follows from the content.
func (m created) words() string { return report.Unnamed(m.Refusal.ErrStatus.Message, m.named("")) }
