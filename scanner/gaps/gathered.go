package gaps

import (
	"fmt"
	"slices"

	"github.com/preadmit/preadmit/report"
)

// gathered is one note about the objects of all roots to which it applies.
type gathered struct {
	// at is the place of the note.
	at    int
	count int
	// roots and names are those of the objects, each once.
	roots, names []string
}

// gather adds objects of a root to what notes say that have a key in common.
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

// say sets what a note says. One about a single root is of that root, others name them.
func (l *Ledger) say(g *gathered, message string) {
	note := &l.Notes[g.at]
	if note.Message = message; len(g.roots) > 1 {
		note.Root, note.Message = "", fmt.Sprintf("%s: %d roots (%s)", message, len(g.roots), abbreviate(g.roots))
	}
}
