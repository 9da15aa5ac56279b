package scanner

import (
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/config"
)

// noteGivenProblem reports policies or context of the configuration that do not
// render, unless they are roots of the scan and reported as such.
func (s *scan) noteGivenProblem(given string, r *change.Rendered) {
	if root, ok := s.Head.Root(r.Root.RootID); ok && change.SameRoot(root, r.Root) && s.Selected(root.Dir) {
		return
	}
	s.open(report.Indeterminate{
		What: "policy", Root: r.Root.Dir, Location: new(change.LocationOf(r.Problem.Position, change.Head)),
		Why: fmt.Sprintf("the policies and context in %s do not render: %s", given, r.Problem.Message),
	})
}

// noteUntargeted tells of roots that no target of the configuration has.
func (s *scan) noteUntargeted() {
	if len(s.in.Config.Targets) == 0 {
		return
	}
	targeted := map[render.RootID]bool{}
	for _, t := range s.targets {
		for _, root := range t.Roots {
			targeted[root] = true
		}
	}
	var left []string
	for _, id := range s.SelectedRoots() {
		if !targeted[id] {
			left = append(left, id.String())
		}
	}
	if len(left) == 0 {
		return
	}
	s.diagnose(report.Diagnostic{
		Severity: "warning",
		Message: fmt.Sprintf("%d roots belong to no target of %s and are not judged: %s",
			len(left), config.FileName, abbreviate(left)),
	})
}

// abbreviate lists names, the first few if there are many.
func abbreviate(names []string) string {
	const most = 5
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}
