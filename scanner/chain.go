package scanner

import (
	"context"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/change"
)

// explain adds to findings what led to the values at their places: the chain of those
// that wrote them and, of an object that is gone, the patch that deletes it.
func (s *scan) explain(ctx context.Context) error {
	return s.work.Each(ctx, "explain", len(s.findings), func(ctx context.Context, i int) error {
		f := &s.findings[i]
		if f.object == nil || f.located {
			return nil
		}
		source, err := s.locator.source(ctx, f.object)
		if err != nil {
			return nil // which locateFinding noted
		}
		from := change.OriginOf(f.object)
		defer from.Side.Begin(from.Root.Dir)()
		f.Location.Chain = chainOf(f, source)
		s.addDeletion(f, source)
		return nil
	})
}

// chainOf is the chain of a finding's field; nil when there is one step only.
func chainOf(f *found, source *origin.Origin) []report.ChainStep {
	steps := stepsTo(f, source)
	if len(steps) < 2 {
		return nil
	}
	from := change.OriginOf(f.object).Side
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
	return out
}

// stepsTo are the steps of a finding's field that end at its place; nil when the place
// has another reason.
func stepsTo(f *found, source *origin.Origin) []origin.Step {
	field := f.Location.Field
	if field == "" {
		return nil
	}
	part := origin.Whole
	if i := slices.IndexFunc(f.turnings, func(t turning) bool { return t.field == field }); i >= 0 {
		part = f.turnings[i].part
	}
	from := change.OriginOf(f.object).Side
	isPlace := func(p render.Position) bool {
		return p.Line == f.Location.StartLine && from.Path(p.Path) == f.Location.Path
	}
	steps := source.Chain(field, part)
	if end := slices.IndexFunc(steps, func(s origin.Step) bool { return isPlace(s.Position) }); end >= 0 {
		return steps[:end+1]
	}
	removals := source.Removals(field)
	if i := slices.IndexFunc(removals, func(r origin.Removal) bool { return isPlace(r.Position) }); i >= 0 {
		return source.RemovalChain(field, removals[i])
	}
	return nil
}

// addDeletion adds to the finding of a DELETE, which is at base, the lines of the head
// that the change wrote to delete the object.
func (s *scan) addDeletion(f *found, source *origin.Origin) {
	from := change.OriginOf(f.object)
	if f.Operation != "DELETE" || from.Side != s.Base {
		return
	}
	i := slices.IndexFunc(s.Head.Found.Roots, func(r render.Root) bool { return r.Dir == from.Root.Dir })
	if i < 0 {
		return
	}
	for _, d := range s.Head.Renderer.DeletedBy(source, s.Head.Found.Roots[i]) {
		for _, p := range []render.Position{d.Directive, d.Entry} {
			if s.locator.changes.wrote(s.Head, p.Path, p.Line) {
				s.addDeletedAt(f, p)
				break
			}
		}
	}
}

func (s *scan) addDeletedAt(f *found, p render.Position) {
	at := locationOf(p, change.Head)
	at.Message = "the object is deleted here"
	s.locator.addSnippet(&at, s.Head, p.Path, isSecret(f.object))
	if !pointsTo(&f.Location, at) && len(f.Location.Related) < maxRelated {
		f.Location.Related = append(f.Location.Related, at)
	}
}
