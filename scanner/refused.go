package scanner

import (
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
)

// works tells who asked for it that a root is at work, and the function it gives that
// it no longer is.
func (s *side) works(root string) (done func()) {
	if s.rendering == nil {
		return func() {}
	}
	return s.rendering(root, s.name)
}

// refuses reports whether a root is not to be rendered. What the user gave beside the
// trees is not known by paths of theirs.
func (s *side) refuses(root render.Root) bool {
	_, refused := s.refused[root.Dir]
	return refused && !s.extra
}

// refusal is the result of a root that is not to be rendered.
func (s *side) refusal(root render.Root) *render.Result {
	return &render.Result{
		Root:  root,
		Trace: render.Trace{Reads: map[string]string{}, Misses: map[string]bool{}},
		Problem: &render.Problem{
			Kind: render.ProblemRefused, Message: s.refused[root.Dir],
			Position: render.Position{Path: s.mainFile(root.Dir)},
		},
	}
}

// mainFile is the kustomization file of a directory, or the directory when it has none.
func (s *side) mainFile(dir string) string {
	entries, _ := fs.ReadDir(s.tree.FS, dir)
	for _, entry := range entries {
		if isKustomization(entry.Name()) {
			return path.Join(dir, entry.Name())
		}
	}
	return dir
}

// accountRefused makes the scan incomplete for what was refused and is not among the
// roots that are judged: it may be of the base only, a part of a root, or hold policies
// for others.
func (s *scan) accountRefused() {
	for _, root := range slices.Sorted(maps.Keys(s.in.Refused)) {
		at, _ := s.head.rootAt(root)
		r := s.head.roots[at.RootID]
		if r != nil && r.Problem != nil && r.Problem.Kind == render.ProblemRefused && s.selected(root) {
			continue // accountRoot had it
		}
		s.report.Summary.Roots.Indeterminate++
		s.report.Summary.Roots.Lost++
		from := s.head
		if _, err := fs.Stat(s.head.tree.FS, root); err != nil && s.base != nil {
			from = s.base
		}
		s.open(report.Indeterminate{
			What: "root", Why: s.in.Refused[root], Root: root,
			Location: ptr(locationOf(render.Position{Path: from.mainFile(root)}, from.name)),
		})
	}
}
