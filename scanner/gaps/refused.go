package gaps

import (
	"io/fs"
	"maps"
	"slices"

	"github.com/preadmit/preadmit/render"
)

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
