package scanner

import (
	"fmt"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/lines"
)

// nothingToJudge is said of a scan that selects no root.
const nothingToJudge = "nothing to judge: no root was found"

// accountRoots says of every selected root of the head what became of it, so that
// nothing goes missing silently.
func (s *scan) accountRoots() {
	for _, root := range s.Head.Found.Roots {
		r := s.Head.Roots[root.RootID]
		switch {
		case !s.Selected(root.Dir):
			s.noteHidden(r)
		case r == nil:
			s.report.Summary.Roots.Untouched++
		default:
			s.accountRoot(r)
		}
	}
	for _, root := range s.Gone() {
		s.accountGone(root)
	}
	s.accountRefused()
	s.accountLeftOut()
	s.noteGlobs()
	if len(s.SelectedRoots()) == 0 {
		s.diagnose(report.Diagnostic{Severity: "warning", Message: nothingToJudge})
	}
}

func (s *scan) accountRoot(r *change.Rendered) {
	counts := &s.report.Summary.Roots
	before := s.BaseProblem(r.ID)
	switch {
	case r.Problem == nil:
		counts.Rendered++
		s.accountRendered(r, before)
	case r.Problem.Kind == render.ProblemRefused:
		counts.Indeterminate++
		if s.RenderedBefore(r.ID) || s.Head.Refuses(r.Root) {
			counts.Lost++
		}
		s.open(report.Indeterminate{
			What: "root", Why: r.Problem.Message, Root: r.Root.Dir,
			Location:  new(s.problemLocation(r.Problem)),
			Untouched: before != nil && !s.Touched[r.ID] && !s.Head.Refuses(r.Root),
		})
	case before != nil && before.Kind == render.ProblemFailed:
		counts.FailedBefore++
		s.accountFailing(r)
	default:
		counts.Failed++
		s.add(lines.Finding{Finding: report.Finding{
			Status: report.StatusNew, Action: report.ActionDeny, Actions: []report.Action{report.ActionDeny}, Cause: report.CauseRender,
			Message: r.Problem.Message, Root: r.Root.Dir, Location: s.problemLocation(r.Problem),
		}, Located: true})
	}
}

// accountFailing tells of a root that renders neither before nor after the change. What
// a change that touches it does is not known.
func (s *scan) accountFailing(r *change.Rendered) {
	why := "this root does not render, as it did not before the change, and is not judged: " + r.Problem.Message
	at := new(s.problemLocation(r.Problem))
	if s.Touched[r.ID] {
		s.open(report.Indeterminate{What: "root", Why: why, Root: r.Root.Dir, Location: at})
		return
	}
	s.diagnose(report.Diagnostic{Severity: "note", Root: r.Root.Dir, Location: at, Message: why})
}

// accountGone tells of a root that is gone, when what is deleted with it is not known.
func (s *scan) accountGone(root render.Root) {
	r := s.Base.Roots[s.Base.ID(root)]
	if r == nil || r.Problem == nil || !s.Selected(root.Dir) || s.Base.Refuses(root) { // accountRefused has those
		return
	}
	s.open(report.Indeterminate{
		What: "root", Root: root.Dir, Location: new(change.LocationOf(r.Problem.Position, change.Base)),
		Why: "this root is gone and did not render before, so what is deleted with it is not known: " + r.Problem.Message,
	})
}

// accountRendered passes on what was remarked about a root that did render.
func (s *scan) accountRendered(r *change.Rendered, before *render.Problem) {
	if before != nil {
		s.diagnose(renderedFirst(r.Root.Dir, before))
	}
	for _, d := range r.Diagnostics {
		s.diagnose(report.Diagnostic{
			Severity: string(d.Severity), Message: d.Message, Root: r.Root.Dir,
			Location: new(change.LocationOf(d.Position, change.Head)),
		})
	}
}

// renderedFirst says that a root did not render before, and what follows.
func renderedFirst(root string, before *render.Problem) report.Diagnostic {
	return report.Diagnostic{
		Severity: "note", Root: root,
		Message: fmt.Sprintf("this root did not render before the change (%s), so all of its objects count as new", before.Error()),
	}
}

// noteHidden tells of a root that is not judged but would have told others about
// policies, namespaces and the like.
func (s *scan) noteHidden(r *change.Rendered) {
	if r == nil || r.Problem == nil {
		return
	}
	s.diagnose(report.Diagnostic{
		Severity: "note", Root: r.Root.Dir, Location: new(s.problemLocation(r.Problem)),
		Message: "this root is not judged and does not render, so policies, namespaces and params in it are unknown: " + r.Problem.Message,
	})
}

// noteGlobs tells of globs that match nothing, which are probably mistyped.
func (s *scan) noteGlobs() {
	globs := slices.Clone(s.in.Config.Roots)
	for _, t := range s.in.Config.Targets {
		globs = append(globs, t.Roots...)
	}
	for _, glob := range globs {
		if !s.AnyRoot(func(path string) bool { return config.MatchGlob(glob, path) }) {
			s.diagnose(report.Diagnostic{Severity: "warning", Message: fmt.Sprintf("glob %q matches no root", glob)})
		}
	}
}

func (s *scan) problemLocation(p *render.Problem) report.Location {
	return change.LocationOf(p.Position, change.Head)
}
