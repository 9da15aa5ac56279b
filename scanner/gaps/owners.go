package gaps

import (
	"slices"
	"strings"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/target"
)

// Owners adds CustomResourceDefinitions of the change for a kind that the base defines under
// another name. An API server does not accept the names of the later one (condition NamesAccepted
// of apiextensions.k8s.io/v1), so it is not known which resource objects of the kind belong to and
// which policies match them.
func (l *Ledger) Owners(targets []*target.Target) {
	for _, t := range targets {
		if t.Base == nil {
			continue
		}
		before := t.Base.Definers()
		for kind, now := range t.Head.Definers() {
			for name, o := range now {
				if known := before[kind]; len(known) > 0 && known[name] == nil {
					l.AddObject(Object, o, t.Head.Cluster.Key(o), "defines the kind "+kind.Kind+", which "+namesOf(known)+
						" defines already: an API server does not accept its names, and the verdicts of policies about objects of the kind may be others")
				}
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
