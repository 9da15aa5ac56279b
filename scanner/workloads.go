package scanner

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	apiserver "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/admission/refusal"
	"github.com/preadmit/preadmit/scanner/admission/unknown"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/controllers"
	"github.com/preadmit/preadmit/scanner/gaps"
	"github.com/preadmit/preadmit/scanner/lines"
	"github.com/preadmit/preadmit/scanner/mutation"
	"github.com/preadmit/preadmit/scanner/server"
)

// decided is a server and its verdict on a workload.
type decided struct {
	server  *server.Server
	verdict server.Verdict
}

// expansion holds the objects that controllers create from a workload, one of each kind, from the
// object that the workload's own controller creates to the Pod.
type expansion struct {
	objects []created
	// cut is set if the server refused the workload or one of the objects, so that the next object
	// is not created.
	cut bool
}

// created is an object that a controller creates, and the verdict on it.
type created struct {
	server.Verdict
	// kind is zero if the object could not be generated.
	kind schema.GroupVersionKind
	// lineage are the created objects from the first, by the workload's own controller, to this
	// one.
	lineage []*controllers.Generated
	// changes are the mutations by policies: of the workload, then of each object in lineage.
	changes [][]mutation.Write
}

// generated returns the created object; nil for the zero value.
func (m created) generated() *controllers.Generated {
	if len(m.lineage) == 0 {
		return nil
	}
	return m.lineage[len(m.lineage)-1]
}

// expand generates and judges the objects created from a workload, down to the Pod. A denial by a
// policy does not stop it: the author of the workload needs all denials. beside is the same
// server's expansion of the other version of the workload; the zero value if there is none.
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
		v, err := t.server.ReviewBeside(ctx, g.Request(), beside.verdict(g.Object.GroupVersionKind()))
		if err != nil {
			return b, err
		}
		b.cut, changes = !v.Reached(), append(slices.Clone(changes), v.Mutations)
		b.objects = append(b.objects, created{Verdict: v, kind: g.Object.GroupVersionKind(), lineage: lineage, changes: changes})
		req = v.Request
	}
	return b, nil
}

// generate calls controllers.Generate and converts a panic to an error.
func generate(req *admission.Request) (g *controllers.Generated, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("this object makes the code of its controller panic: %v", p)
		}
	}()
	return controllers.Generate(req)
}

// of returns the object of a kind and whether there is one.
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

// judgeCreated judges the objects that controllers create from a created or updated workload, if
// policies or plugins may judge them.
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

// judgeCreatedAgain judges the objects created from a workload that did not change, by the policies
// that changed.
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

// mayJudgeCreated reports whether the server may decide on objects created from the reviewed
// object: by a policy or, if own is set, by the server's own plugins.
func (r *review) mayJudgeCreated(s *server.Server, own bool) bool {
	resources := controllers.GeneratedBy(r.Object().GroupVersionKind().GroupKind())
	return s.MayMatchCreated(resources, nil) || own && len(resources) > 0 && controllers.JudgesPods(s.Cluster(), r.Key.Namespace)
}

func (r *review) countEvaluations(b expansion) {
	for _, m := range b.objects {
		r.out.evaluations += m.Evaluations
	}
}

// report converts the verdicts on created objects to findings of the workload.
func (r *review) report(inForce, final, before expansion) {
	r.out.requests += len(final.objects)
	for i := range final.objects {
		if m := &final.objects[i]; m.generated() != nil {
			r.capture(&m.Verdict, string(apiserver.Create), r.named(*m))
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
	// An object that is not created, because one before it is refused, does not resolve findings.
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

// createdRefusal reports that the server refuses a created object, that it refused it before, or
// that this is unknown.
func (r *review) createdRefusal(last, was created, settled bool) {
	switch {
	case last.Unknown != nil:
		r.indeterminate(gaps.Object, "", last.Unknown.Error())
	case last.Refusal != nil:
		r.add(refusedBy(r.Pair, &last.Verdict), was.Refusal != nil && was.unnamed() == last.unnamed())
	case was.Refusal != nil && settled:
		r.resolve(refusedBy(r.Pair, &was.Verdict))
	}
	r.notStored(last.Verdict, &was.Verdict)
}

// createdFindings adds findings about a created object as findings of the workload.
func (r *review) createdFindings(findings []lines.Finding, last, first, was created) {
	for _, f := range findings {
		m := last
		switch {
		case f.Status == report.StatusResolved:
			m = was
		case m.generated() == nil:
			m = first
		}
		f.Generated, f.Lineage, f.Mutations = r.named(m), m.lineage, m.changes
		f.Request = new(m.generated().Request())
		if f.Cause == report.CauseSchema && len(f.Fields) == 0 && !m.isMutated() {
			f.Fields = refusal.FieldsOfPlugin(f.Message, m.generated().Object.Content())
		}
		r.out.findings = append(r.out.findings, f)
	}
}

// createdGaps adds gaps about a created object as gaps of the workload, unless the workload already
// has the same gap: for example both are in the same unknown namespace.
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

// named returns the identity of the created object. A name that is not known, such as one with a hash
// of a template with unknown values, is the workload's name and what a server generates.
func (r *review) named(m created) *report.Object {
	named := m.named(r.Key.Namespace)
	if field := unknown.Identity(m.generated().Object.Unknown); field != nil && slices.Contains([]string{"metadata.name", "metadata.generateName"}, field.Field()) {
		named.Name, named.GenerateName = "", r.Object().Name()+"-"
	}
	return named
}

// named returns the identity of the created object with its name as it was judged.
func (m created) named(namespace string) *report.Object {
	return change.ObjectOf(m.generated().Object, admission.Key{Namespace: namespace})
}

// isMutated reports whether policies changed the created object.
func (m created) isMutated() bool { return len(m.Mutations) > 0 }

// unnamed returns a refusal's message without the object's name, which follows from the content.
func (m created) unnamed() string { return report.Unnamed(m.Refusal.ErrStatus.Message, m.named("")) }
