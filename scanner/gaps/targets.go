package gaps

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/target"
)

// Given adds configured policies or context that do not render, unless they are roots of the scan and
// reported as such.
func (l *Ledger) Given(targets []*target.Target) {
	for _, t := range targets {
		for _, given := range t.Broken {
			l.given(given.Path, given.Root)
		}
	}
}

func (l *Ledger) given(name string, r *change.Rendered) {
	if root, ok := l.Head.Root(r.Root.RootID); ok && change.SameRoot(root, r.Root) && l.Selected(root.RootID) {
		return
	}
	gap, _ := r.Gap()
	gap.Kind = Policy
	gap.Why = fmt.Sprintf("the policies and context in %s do not render: %s", name, gap.Why)
	l.Add(Gap{Gap: gap, Tree: change.Head})
}

// Untargeted warns about roots that belong to no target of the configuration.
func (l *Ledger) Untargeted(targets []*target.Target) {
	if len(l.options.Config.Targets) == 0 {
		return
	}
	targeted := map[render.RootID]bool{}
	for _, t := range targets {
		for _, root := range t.Roots {
			targeted[root] = true
		}
	}
	var left []string
	for _, id := range l.SelectedRoots() {
		if !targeted[id] {
			left = append(left, id.String())
		}
	}
	if len(left) == 0 {
		return
	}
	l.Note(report.Diagnostic{
		Severity: "warning",
		Message: fmt.Sprintf("%s to no target of %s: %s",
			plural(len(left), "root is not judged, as it belongs", "roots are not judged, as they belong"), config.FileName, abbreviate(left)),
	})
}

// Unclear warns about objects given with --context that are not used because several roots have them.
func (l *Ledger) Unclear(keys []admission.Key) {
	var names []string
	for _, key := range keys {
		if !kinds.Of(schema.GroupKind{Group: key.Group, Kind: key.Kind}).Governs {
			names = append(names, key.String())
		}
	}
	if len(names) > 0 {
		l.Note(report.Diagnostic{Severity: "warning", Message: fmt.Sprintf(
			"several roots have %s, so it is not known to which of them the object in --context belongs: it is not used for updates; configure a target with its own context for each cluster in %s",
			abbreviate(names), config.FileName)})
	}
}

// abbreviate joins names, only the first few if there are many.
func abbreviate(names []string) string {
	const most = 5
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}
