package lines

import (
	"context"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/change"
)

// explain adds to a finding what led to the value at its place: the chain of writers and, for a deleted object,
// the patch that deletes it.
func (l *Locator) explain(ctx context.Context, f *Finding) {
	if f.Subject == nil || f.Located {
		return
	}
	if source := l.addChain(ctx, f); source != nil {
		l.addDeletion(f, source)
	}
}

// addChain adds the chain to a finding and returns the source of its object; nil if the source is not known,
// which locateFinding already reported.
func (l *Locator) addChain(ctx context.Context, f *Finding) *origin.Origin {
	source, err := l.source(ctx, f.Subject)
	if err != nil {
		return nil
	}
	from := change.OriginOf(f.Subject)
	defer from.Side.Begin(from.Root.Dir)()
	f.Location.Chain = l.chainOf(ctx, f, source)
	return source
}

// chainOf returns the chain of a finding's field; nil if it has only one step.
func (l *Locator) chainOf(ctx context.Context, f *Finding, source *origin.Origin) []report.ChainStep {
	steps, mutated := stepsTo(f, source), l.mutationStep(ctx, f)
	if mutated != nil && len(steps) == 0 {
		at := &f.Location
		return []report.ChainStep{{Path: at.Path, StartLine: at.StartLine, StartColumn: at.StartColumn, Absent: !isWritten(source, at.Field)}, *mutated}
	}
	if len(steps) < 2 && mutated == nil {
		return nil
	}
	from := change.OriginOf(f.Subject).Side
	out := make([]report.ChainStep, len(steps))
	for i, step := range steps {
		out[i] = report.ChainStep{
			Path: from.Path(step.Path), StartLine: step.Line, StartColumn: step.Column, Absent: step.Absent,
			Kind: string(step.Kind), Component: step.Component,
		}
		if step.Kustomization != "" {
			out[i].Kustomization = from.Path(step.Kustomization)
		}
	}
	if mutated != nil {
		out[0].Absent = out[0].Absent || len(steps) == 1 && !isWritten(source, f.Location.Field)
		out = append(out, *mutated)
	}
	return out
}

func isWritten(source *origin.Origin, field string) bool {
	_, found := source.Find(field)
	return found
}

// mutationStep returns the step for the MutatingAdmissionPolicy that wrote a finding's field; nil if none did.
func (l *Locator) mutationStep(ctx context.Context, f *Finding) *report.ChainStep {
	by, ok := f.mutated[f.Location.Field]
	if !ok {
		return nil
	}
	source, err := l.source(ctx, by.policy)
	if err != nil {
		return nil // the other steps are still shown
	}
	at := source.Place(by.field, origin.Whole).Position
	return &report.ChainStep{
		Path: change.OriginOf(by.policy).Side.Path(at.Path), StartLine: at.Line, StartColumn: at.Column, Kind: "mutation",
	}
}

// stepsTo returns the steps of a finding's field up to its place; nil if the place is not among them.
func stepsTo(f *Finding, source *origin.Origin) []origin.Step {
	field := f.Location.Field
	if field == "" {
		return nil
	}
	part := origin.Whole
	if i := slices.IndexFunc(f.causes, func(c cause) bool { return c.field == field }); i >= 0 {
		part = f.causes[i].part
	}
	from := change.OriginOf(f.Subject).Side
	isPlace := func(p render.Position) bool {
		return p.Line == f.Location.StartLine && from.Path(p.Path) == f.Location.Path
	}
	steps := source.Chain(field, part)
	if end := slices.IndexFunc(steps, func(s origin.Step) bool { return isPlace(s.Position) }); end >= 0 {
		if slices.ContainsFunc(source.Place(field, part).Also, func(p origin.Place) bool { return isPlace(p.Position) }) {
			last := steps[end] // all of them contribute to the value
			return append(slices.Delete(slices.Clone(steps), end, end+1), last)
		}
		return steps[:end+1]
	}
	removals := source.Removals(field)
	if i := slices.IndexFunc(removals, func(r origin.Removal) bool { return isPlace(r.Position) }); i >= 0 {
		return source.RemovalChain(field, removals[i])
	}
	return nil
}

// addDeletion adds to the finding of a DELETE, which is located at base, the lines of the head with which the
// change deletes the object.
func (l *Locator) addDeletion(f *Finding, source *origin.Origin) {
	from := change.OriginOf(f.Subject)
	if f.Operation != "DELETE" || from.Side != l.change.Base {
		return
	}
	i := slices.IndexFunc(l.change.Head.Found.Roots, func(r render.Root) bool { return r.Dir == from.Root.Dir })
	if i < 0 {
		return
	}
	for _, d := range l.change.Head.Renderer.DeletedBy(source, l.change.Head.Found.Roots[i]) {
		for _, p := range []render.Position{d.Directive, d.Entry} {
			if l.changes.wrote(l.change.Head, p.Path, p.Line) {
				l.addDeletedAt(f, p)
				break
			}
		}
	}
}

func (l *Locator) addDeletedAt(f *Finding, p render.Position) {
	at := change.LocationOf(p, change.Head)
	at.Message = "the object is deleted here"
	l.addSnippet(&at, l.change.Head, p.Path, isSecret(f.Subject))
	if !pointsTo(&f.Location, at) && len(f.Location.Related) < maxRelated {
		f.Location.Related = append(f.Location.Related, at)
	}
}
