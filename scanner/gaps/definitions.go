package gaps

import (
	"fmt"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/server"
	"github.com/preadmit/preadmit/scanner/target"
)

// NoDefinition notes that a root has objects of kinds which nothing defines, and that are
// not known by name either, that are judged all the same, because no policy could match
// them. What a server finds wrong with them by the schema of the kind is not told.
func (l *Ledger) NoDefinition(s *server.Server, root render.RootID, pairs []target.Pair) {
	var names []string
	count := 0
	for _, p := range pairs {
		kind := p.Object().GroupVersionKind()
		if _, ok := s.Cluster().Resource(kind); ok || p.Same || p.Head == nil || s.Unserved(p.Head) != nil {
			continue
		}
		count++
		if name := kind.GroupKind().String(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if count == 0 {
		return
	}
	g := l.gather("no definition", root.String(), count, names...)
	what := "1 object is of a kind"
	if g.count > 1 {
		what = fmt.Sprintf("%d objects are of kinds", g.count)
	}
	l.say(g, fmt.Sprintf(
		"%s without a CustomResourceDefinition in the repository, so no schema is checked; add it or give it with --context (%s)",
		what, abbreviate(g.names)))
}
