package gaps

import (
	"fmt"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/server"
	"github.com/preadmit/preadmit/scanner/target"
)

// NoDefinition notes objects of a root whose kinds are not built in and have no
// CustomResourceDefinition, but that are judged because no policy could match them. They are not
// checked against a schema.
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
	l.setMessage(g, fmt.Sprintf(
		"%s without a CustomResourceDefinition in the repository, so no schema is checked; add it or give it with --context (%s)",
		what, abbreviate(g.names)))
}
