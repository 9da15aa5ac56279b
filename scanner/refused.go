package scanner

import (
	"io/fs"
	"maps"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/change"
)

// accountRefused makes the scan incomplete for what was refused and is not among the
// roots that are judged: it may be of the base only, a part of a root, or hold policies
// for others.
func (s *scan) accountRefused() {
	for _, root := range slices.Sorted(maps.Keys(s.in.Refused)) {
		at, _ := s.Head.RootAt(root)
		r := s.Head.Roots[at.RootID]
		if r != nil && r.Problem != nil && r.Problem.Kind == render.ProblemRefused && s.Selected(root) {
			continue // accountRoot had it
		}
		s.report.Summary.Roots.Indeterminate++
		s.report.Summary.Roots.Lost++
		from := s.Head
		if _, err := fs.Stat(s.Head.Files, root); err != nil && s.Base != nil {
			from = s.Base
		}
		s.open(report.Indeterminate{
			What: "root", Why: s.in.Refused[root], Root: root,
			Location: new(change.LocationOf(render.Position{Path: from.MainFile(root)}, from.Name)),
		})
	}
}
