package gaps

import (
	"fmt"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/target"
)

// Move notes a move of objects between roots for which it is not known which object became which.
func (l *Ledger) Move(m *target.Move) {
	l.Note(report.Diagnostic{Severity: "note", Message: fmt.Sprintf(
		"%s is gone from %s and new in %s: which of them became which is not known, so what differs is judged each way",
		m.Key, rootsOf(m.From), rootsOf(m.To))})
}

// Replaced warns about a unit that deletes objects before a new unit applies them.
func (l *Ledger) Replaced(r *target.Replaced) {
	why := "which is gone"
	if _, stays := l.Head.Root(r.From); stays {
		why = "which applies this one"
	}
	objects := "1 object before this one applies it"
	if len(r.Objects) > 1 {
		objects = fmt.Sprintf("%d objects before this one applies them", len(r.Objects))
	}
	message := fmt.Sprintf("%s, %s, deletes %s", r.From.Object, why, objects)
	if slices.ContainsFunc(r.Objects, deploys) {
		message += ", and so what HelmReleases, Kustomizations and ResourceSets among them have applied, which is judged as if it stayed"
	}
	root, _ := l.Head.Root(r.To)
	l.Note(report.Diagnostic{
		Severity: "warning", Root: r.To.String(), Message: message + "; prune: false, in a change before this one, would keep them",
		Location: new(change.LocationOf(l.Head.UnitPosition(root), change.Head)),
	})
}

// deploys reports whether a controller applies other objects because of an object, and deletes them
// with it.
func deploys(o *admission.Object) bool {
	switch o.GroupVersionKind().GroupKind().String() {
	case "HelmRelease.helm.toolkit.fluxcd.io", "Kustomization.kustomize.toolkit.fluxcd.io", "ResourceSet.fluxcd.controlplane.io":
		return true
	}
	return false
}

func rootsOf(list []target.Holding) string {
	roots := make([]string, len(list))
	for i, h := range list {
		roots[i] = h.Root.String()
	}
	return strings.Join(roots, ", ")
}
