package gaps

import "github.com/preadmit/preadmit/scanner/change"

// Uncompared adds touched roots that cannot be compared because one side does not render, and notes
// those of which only the base does not render.
func (l *Ledger) Uncompared() {
	for _, id := range l.SelectedRoots() {
		base, head := l.Base.Roots[id], l.Head.Roots[id]
		switch {
		case !l.Touched[id]:
		case head != nil && head.Problem != nil:
			l.uncompared(head, change.Head)
		case base == nil || base.Problem == nil:
		case head == nil:
			l.uncompared(base, change.Base)
		default:
			l.Note(RenderedFirst(id.String(), base.Problem))
		}
	}
}

func (l *Ledger) uncompared(r *change.Rendered, tree string) {
	gap, _ := r.Gap()
	l.Add(Gap{Gap: gap, Tree: tree})
}
