package scanner

import (
	"fmt"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/config"
)

// selected reports whether the root at path is to be judged: all are, unless the
// configuration's globs or the directory the user asked about say otherwise.
func (s *scan) selected(path string) bool {
	if !under(s.in.Head.Under, path) {
		return false
	}
	return len(s.in.Config.Roots) == 0 || config.MatchAny(s.in.Config.Roots, path)
}

// selectedRoots are the identities of the selected roots of either tree, in order.
func (s *scan) selectedRoots() []render.RootID {
	ids := []render.RootID{}
	for _, from := range []*side{s.head, s.base} {
		if from == nil {
			continue
		}
		for _, root := range from.found.Roots {
			if s.selected(root.Dir) {
				ids = append(ids, from.id(root))
			}
		}
	}
	slices.SortFunc(ids, render.RootID.Compare)
	return slices.Compact(ids)
}

// nothingToJudge is said of a scan that selects no root.
const nothingToJudge = "nothing to judge: no root was found"

// accountRoots says of every selected root of the head what became of it, so that
// nothing goes missing silently.
func (s *scan) accountRoots() {
	for _, root := range s.head.found.Roots {
		r := s.head.roots[root.RootID]
		switch {
		case !s.selected(root.Dir):
			s.noteHidden(r)
		case r == nil:
			s.report.Summary.Roots.Untouched++
		default:
			s.accountRoot(r)
		}
	}
	for _, root := range s.gone() {
		s.accountGone(root)
	}
	s.accountRefused()
	s.accountLeftOut()
	s.noteGlobs()
	if len(s.selectedRoots()) == 0 {
		s.diagnose(report.Diagnostic{Severity: "warning", Message: nothingToJudge})
	}
}

func (s *scan) accountRoot(r *rendered) {
	counts := &s.report.Summary.Roots
	before := s.baseProblem(r.id)
	switch {
	case r.Problem == nil:
		counts.Rendered++
		s.accountRendered(r, before)
	case r.Problem.Kind == render.ProblemRefused:
		counts.Indeterminate++
		if s.renderedBefore(r.id) || s.head.refuses(r.Root) {
			counts.Lost++
		}
		s.open(report.Indeterminate{
			What: "root", Why: r.Problem.Message, Root: r.Root.Dir,
			Location:  ptr(s.problemLocation(r.Problem)),
			Untouched: before != nil && !s.touched[r.id] && !s.head.refuses(r.Root),
		})
	case before != nil && before.Kind == render.ProblemFailed:
		counts.FailedBefore++
		s.accountFailing(r)
	default:
		counts.Failed++
		s.add(found{Finding: report.Finding{
			Status: report.StatusNew, Action: report.ActionDeny, Actions: []report.Action{report.ActionDeny}, Cause: report.CauseRender,
			Message: r.Problem.Message, Root: r.Root.Dir, Location: s.problemLocation(r.Problem),
		}, located: true})
	}
}

// accountFailing tells of a root that renders neither before nor after the change. What
// a change that touches it does is not known.
func (s *scan) accountFailing(r *rendered) {
	why := "this root does not render, as it did not before the change, and is not judged: " + r.Problem.Message
	at := ptr(s.problemLocation(r.Problem))
	if s.touched[r.id] {
		s.open(report.Indeterminate{What: "root", Why: why, Root: r.Root.Dir, Location: at})
		return
	}
	s.diagnose(report.Diagnostic{Severity: "note", Root: r.Root.Dir, Location: at, Message: why})
}

// gone are the roots of the base that the head does not have.
func (s *scan) gone() []render.Root {
	if s.base == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.base.found.Roots), func(root render.Root) bool {
		_, ok := s.head.root(root.RootID)
		return ok
	})
}

// accountGone tells of a root that is gone, when what is deleted with it is not known.
func (s *scan) accountGone(root render.Root) {
	r := s.base.roots[s.base.id(root)]
	if r == nil || r.Problem == nil || !s.selected(root.Dir) || s.base.refuses(root) { // accountRefused has those
		return
	}
	s.open(report.Indeterminate{
		What: "root", Root: root.Dir, Location: ptr(locationOf(r.Problem.Position, baseTree)),
		Why: "this root is gone and did not render before, so what is deleted with it is not known: " + r.Problem.Message,
	})
}

// accountRendered passes on what was remarked about a root that did render.
func (s *scan) accountRendered(r *rendered, before *render.Problem) {
	if before != nil {
		s.diagnose(renderedFirst(r.Root.Dir, before))
	}
	for _, d := range r.Diagnostics {
		s.diagnose(report.Diagnostic{
			Severity: string(d.Severity), Message: d.Message, Root: r.Root.Dir,
			Location: ptr(locationOf(d.Position, headTree)),
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

// renderedBefore reports whether a root rendered at base. One that no
// longer does must not pass, whatever the reason: a remote base would turn the gate
// off.
func (s *scan) renderedBefore(id render.RootID) bool {
	return s.base != nil && s.base.roots[id] != nil && s.base.roots[id].Problem == nil
}

// baseProblem is why a root did not render at base.
func (s *scan) baseProblem(id render.RootID) *render.Problem {
	if s.base == nil || s.base.roots[id] == nil {
		return nil
	}
	return s.base.roots[id].Problem
}

// noteHidden tells of a root that is not judged but would have told others about
// policies, namespaces and the like.
func (s *scan) noteHidden(r *rendered) {
	if r == nil || r.Problem == nil {
		return
	}
	s.diagnose(report.Diagnostic{
		Severity: "note", Root: r.Root.Dir, Location: ptr(s.problemLocation(r.Problem)),
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
		if !s.anyRoot(func(path string) bool { return config.MatchGlob(glob, path) }) {
			s.diagnose(report.Diagnostic{Severity: "warning", Message: fmt.Sprintf("glob %q matches no root", glob)})
		}
	}
}

func (s *scan) anyRoot(match func(path string) bool) bool {
	for _, from := range []*side{s.head, s.base} {
		if from != nil && slices.ContainsFunc(from.found.Roots, func(r render.Root) bool { return match(r.Dir) }) {
			return true
		}
	}
	return false
}

func (s *scan) problemLocation(p *render.Problem) report.Location {
	return locationOf(p.Position, headTree)
}
