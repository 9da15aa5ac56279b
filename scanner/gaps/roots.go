package gaps

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/lines"
)

// Roots records the outcome of every selected root of the head and of every root that is gone, so
// that none is missed silently.
func (l *Ledger) Roots() {
	for _, root := range l.Head.Found.Roots {
		r := l.Head.Roots[root.RootID]
		switch {
		case !l.Selected(root.RootID):
			l.unselectedRoot(r)
		case r == nil:
			l.Counts.Untouched++
		default:
			l.root(r)
		}
	}
	for _, root := range l.Gone() {
		l.goneRoot(root)
	}
	l.refusedRoots()
}

func (l *Ledger) root(r *change.Rendered) {
	before := l.BaseProblem(r.ID)
	switch {
	case r.Problem == nil:
		l.Counts.Rendered++
		l.renderedRoot(r, before)
		l.lackingRoot(r)
	case r.Problem.Kind == render.ProblemRefused:
		l.refusedRoot(r, before)
	case before != nil && before.Kind == render.ProblemFailed:
		l.Counts.FailedBefore++
		l.failingRoot(r)
	default:
		l.Counts.Failed++
		l.unjudged[r.ID] = true
		l.Failed = append(l.Failed, lines.Finding{Finding: report.Finding{
			Status: report.StatusNew, Action: report.ActionError, Actions: []report.Action{report.ActionError}, Cause: report.CauseRender,
			Message: r.Problem.Message, Original: r.Problem.Original, Root: r.ID.String(), Location: change.LocationOf(r.Problem.Place(), change.Head),
		}, Located: true})
	}
}

// refusedRoot adds a root that was not rendered. If it rendered at base it counts as lost, and the
// scan must not pass: otherwise a change could avoid its verdict with a remote base.
func (l *Ledger) refusedRoot(r *change.Rendered, before *render.Problem) {
	l.Counts.Indeterminate++
	if l.RenderedBefore(r.ID) || l.Head.Refuses(r.Root) {
		l.Counts.Lost++
	}
	gap, _ := r.Gap()
	l.addRoot(Gap{Gap: gap, Tree: change.Head, Untouched: before != nil && !l.Touched[r.ID] && !l.Head.Refuses(r.Root)}, r.ID)
}

// lackingRoot adds the parts that a root was rendered without. If it rendered completely at base,
// the scan must not pass.
func (l *Ledger) lackingRoot(r *change.Rendered) {
	if l.LackedMore(r.ID) {
		l.Note(report.Diagnostic{Severity: "note", Root: r.ID.String(), Message: fmt.Sprintf(
			"this root was rendered without %s before the change, so objects that came from there count as new", strings.Join(l.Base.Roots[r.ID].Lacks.What, ", "))})
	}
	if r.Lacks == nil {
		return
	}
	if l.RenderedBefore(r.ID) && l.Base.Roots[r.ID].Lacks == nil {
		l.Counts.Lost++
	}
	gap := r.Lacks.Gap(r.Root.RootID)
	if l.LacksMore(r.ID) && l.Base != nil {
		gap.Why += "; what it no longer has here may be there, so that deletions are not judged"
	}
	l.Add(Gap{Gap: gap, Tree: change.Head, Untouched: l.Base != nil && !l.Touched[r.ID]})
}

// failingRoot adds a root that renders neither before nor after the change. If the change touches
// it, its effect is not known.
func (l *Ledger) failingRoot(r *change.Rendered) {
	gap, _ := r.Gap()
	gap.Why = "this root does not render, as it did not before the change, and is not judged: " + gap.Why
	if l.Touched[r.ID] {
		l.addRoot(Gap{Gap: gap, Tree: change.Head}, r.ID)
		return
	}
	l.Note(report.Diagnostic{
		Severity: "note", Root: r.ID.String(), Message: gap.Why, Original: gap.Original,
		Location: new(change.LocationOf(gap.Place(), change.Head)), Untouched: true,
	})
}

// goneRoot adds a root that is gone, if it is not known what is deleted with it.
func (l *Ledger) goneRoot(root render.Root) {
	r := l.Base.Roots[l.Base.ID(root)]
	if r != nil && r.Lacks != nil && l.Selected(root.RootID) {
		gap := r.Lacks.Gap(root.RootID)
		gap.Why = "this root is gone, and what else is deleted with it is not known: " + gap.Why
		l.Add(Gap{Gap: gap, Tree: change.Base})
	}
	if r == nil || r.Problem == nil || !l.Selected(root.RootID) || l.Base.Refuses(root) { // refusedRoots adds those
		return
	}
	gap, _ := r.Gap()
	gap.Why = "this root is gone and did not render before, so what is deleted with it is not known: " + gap.Why
	l.addRoot(Gap{Gap: gap, Tree: change.Base}, r.ID)
}

// renderedRoot adds the diagnostics of a root that rendered.
func (l *Ledger) renderedRoot(r *change.Rendered, before *render.Problem) {
	if before != nil {
		l.Note(RenderedFirst(r.ID.String(), before))
	}
	for _, d := range r.Diagnostics {
		l.Note(report.Diagnostic{
			Severity: string(d.Severity), Message: d.Message, Root: r.Root.Dir,
			Location: new(change.LocationOf(d.Position, change.Head)), Untouched: l.Base != nil && !l.Touched[r.ID],
		})
	}
}

// RenderedFirst returns the note that a root did not render before, and that all its objects count
// as new.
func RenderedFirst(root string, before *render.Problem) report.Diagnostic {
	return report.Diagnostic{
		Severity: "note", Root: root,
		Message: fmt.Sprintf("this root did not render before the change (%s), so all of its objects count as new", before.Error()),
	}
}

// unselectedRoot notes a root that is not judged and does not render but may define policies,
// namespaces and params.
func (l *Ledger) unselectedRoot(r *change.Rendered) {
	if r == nil || r.Problem == nil {
		return
	}
	l.Note(report.Diagnostic{
		Severity: "note", Root: r.ID.String(), Location: new(change.LocationOf(r.Problem.Place(), change.Head)),
		Message:   "this root is not judged and does not render, so policies, namespaces and params in it are unknown: " + r.Problem.Message,
		Original:  r.Problem.Original,
		Untouched: l.Base != nil && !l.Touched[r.ID],
	})
}

// Globs warns about globs that match nothing and are probably mistyped.
func (l *Ledger) Globs() {
	globs := slices.Clone(l.options.Config.Roots)
	for _, t := range l.options.Config.Targets {
		globs = append(globs, t.Roots...)
	}
	for _, glob := range globs {
		rest, not := strings.CutPrefix(glob, config.Not)
		matches := func(names ...string) bool {
			return config.Chooses([]string{glob}, names...) != not
		}
		if !l.AnyRoot(matches) {
			l.Note(report.Diagnostic{Severity: "warning", Message: fmt.Sprintf("glob %q matches no root", rest)})
		}
	}
}

// refusedRoots adds a gap for each directory that the caller refuses and that is not a judged root:
// it may be a root of the base only, a part of a root, or hold policies for other roots.
func (l *Ledger) refusedRoots() {
	for _, dir := range slices.Sorted(maps.Keys(l.options.Refused)) {
		root, _ := l.Head.RootAt(dir)
		r := l.Head.Roots[root.RootID]
		if r != nil && r.Problem != nil && r.Problem.Kind == render.ProblemRefused && l.Selected(render.RootID{Dir: dir}) {
			continue // refusedRoot added it
		}
		l.Counts.Indeterminate++
		l.Counts.Lost++
		l.refusedDirectory(dir)
	}
}

func (l *Ledger) refusedDirectory(dir string) {
	from := l.Head
	if _, err := fs.Stat(l.Head.Files, dir); err != nil && l.Base != nil {
		from = l.Base
	}
	gap := render.Gap{
		Kind: render.GapRefused, Root: render.RootID{Dir: dir}, Why: l.options.Refused[dir],
		Position: render.Position{Path: from.MainFile(dir)},
	}
	ids := []render.RootID{}
	for _, side := range l.Trees() {
		if root, ok := side.RootAt(dir); ok {
			ids = append(ids, side.ID(root))
		}
	}
	l.addRoot(Gap{Gap: gap, Tree: from.Name}, ids...)
}
