package scanner

import (
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
)

// noteRivals tells of definitions that the change adds for a kind that the base defines by
// another name. An API server does not accept the names of the later one (condition
// NamesAccepted of apiextensions.k8s.io/v1), so that which resource the objects of the kind
// are, and which policies match them, is not what the change says.
func (s *scan) noteRivals() {
	for _, t := range s.targets {
		if t.Base == nil {
			continue
		}
		before := t.Base.Definers()
		for kind, now := range t.Head.Definers() {
			for name, o := range now {
				if known := before[kind]; len(known) == 0 || known[name] != nil {
					continue
				}
				key := t.Head.Cluster.Key(o)
				s.unjudged = append(s.unjudged, unjudged{object: o, key: key, Indeterminate: report.Indeterminate{
					What: "object", Object: change.ObjectOf(o, key), Root: change.OriginOf(o).Root.Dir,
					Why: "defines the kind " + kind.Kind + ", which " + namesOf(before[kind]) + " defines already: an API server does not accept " +
						"its names, and what policies say of objects of the kind may be something else",
				}})
			}
		}
	}
}

func namesOf(objects map[string]*admission.Object) string {
	var names []string
	for name := range objects {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
