package gaps

import (
	"fmt"
	"slices"

	"github.com/preadmit/preadmit/report"
)

// gathered is one note about objects of all roots to which it applies.
type gathered struct {
	// at is the index of the note in Ledger.Notes.
	at    int
	count int
	// roots and names are those of the objects, without repeats.
	roots, names []string
}

// gather adds objects of a root to the note with a key.
func (l *Ledger) gather(key, root string, count int, names ...string) *gathered {
	g := l.gathered[key]
	if g == nil {
		g = &gathered{at: len(l.Notes)}
		l.Note(report.Diagnostic{Severity: "note", Root: root})
		l.gathered[key] = g
	}
	g.count += count
	for _, name := range names {
		if !slices.Contains(g.names, name) {
			g.names = append(g.names, name)
		}
	}
	slices.Sort(g.names)
	if !slices.Contains(g.roots, root) {
		g.roots = append(g.roots, root)
	}
	return g
}

// setMessage sets the message of a note. The note belongs to its root if there is one; otherwise
// the message lists the roots.
func (l *Ledger) setMessage(g *gathered, message string) {
	note := &l.Notes[g.at]
	if note.Message = message; len(g.roots) > 1 {
		note.Root, note.Message = "", fmt.Sprintf("%s: %d roots (%s)", message, len(g.roots), abbreviate(g.roots))
	}
}
