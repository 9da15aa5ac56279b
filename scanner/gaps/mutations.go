package gaps

import (
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/target"
)

// Mutations names what in the state would change requests on their way and is
// not simulated. Where nothing is judged there is nothing to say.
func (l *Ledger) Mutations(requests int, targets []*target.Target, extras []*admission.Object) {
	if requests == 0 {
		return
	}
	names := []string{}
	untouched := l.Base != nil
	for _, t := range targets {
		for _, r := range t.Head.Roots {
			for _, o := range r.Objects {
				if kind := o.GroupVersionKind().GroupKind(); kinds.Of(kind).Effect == kinds.NotSimulated {
					names = append(names, kind.Kind+" "+o.Name())
					untouched = untouched && !l.Touched[r.ID]
				}
			}
		}
	}
	for _, o := range extras {
		if kind := o.GroupVersionKind().GroupKind(); kinds.Of(kind).Effect == kinds.NotSimulated {
			names = append(names, kind.Kind+" "+o.Name())
		}
	}
	if names = slices.Compact(slices.Sorted(slices.Values(names))); len(names) == 0 {
		return
	}
	l.Note(report.Diagnostic{
		Severity: "note", Untouched: untouched,
		Message: "verdicts do not include what these do to a request: " + strings.Join(names, ", "),
	})
}
