package scanner

import (
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/lines"
)

// holdsPolicies are what policies and bindings have in common.
func holdsPolicies() []render.Mention {
	return []render.Mention{
		{Group: kinds.GroupAdmission, Kind: kinds.Policy.Kind},
		{Group: kinds.GroupAdmission, Kind: kinds.Binding.Kind},
	}
}

// accountUnasked tells of policies and bindings that nobody was judged by, because
// their roots do not render. The change may touch none of them: as soon as it asks for
// anything, it is not known what they would say.
func (s *scan) accountUnasked() {
	if s.Base == nil || s.report.Summary.Requests == 0 {
		return
	}
	for _, root := range s.Head.Found.Roots {
		s.openUnasked(s.Head, root)
	}
	for _, root := range s.Gone() {
		s.openUnasked(s.Base, root)
	}
}

// openUnasked does so for a root of one tree, unless it was told already that it is
// not judged.
func (s *scan) openUnasked(from *change.Side, root render.Root) {
	r := from.Roots[from.ID(root)]
	if r == nil || r.Problem == nil || s.fails(root.Dir) || !mayHoldPolicies(from, r) {
		return
	}
	s.open(report.Indeterminate{
		What: "policy", Root: root.Dir, Location: new(change.LocationOf(r.Problem.Position, from.Name)),
		Why: "policies and bindings that this root may hold were not asked, because it does not render: " + r.Problem.Message,
	})
}

// fails reports whether the report says of a root as a whole that it was not judged,
// in a way that counts against the change.
func (s *scan) fails(root string) bool {
	return slices.ContainsFunc(s.report.Indeterminate, func(i report.Indeterminate) bool {
		return i.What == "root" && i.Root == root && !i.Untouched
	}) || slices.ContainsFunc(s.findings, func(f lines.Finding) bool { return f.Cause == report.CauseRender && f.Root == root })
}

// mayHoldPolicies goes by the words of the files that a root that does not render reads,
// and of those in its directory, where it may be that what it reads is not known. What a
// remote base, a plugin or a variable might bring besides is left out of account: nearly
// all bring something else, and each would make every change one that was not judged.
func mayHoldPolicies(s *change.Side, r *change.Rendered) bool {
	in := s.Renderer.Needs(r.Root)
	if !s.Renderer.MayHold(in, holdsPolicies()...) {
		return false
	}
	names := slices.Collect(maps.Keys(in.Trace.Reads))
	entries, _ := fs.ReadDir(s.Files, r.Root.Dir) // it may be gone
	for _, e := range entries {
		names = append(names, path.Join(r.Root.Dir, e.Name()))
	}
	return slices.ContainsFunc(names, func(name string) bool { return kinds.FileMentionsPolicy(s.Files, name) })
}
