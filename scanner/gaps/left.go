package gaps

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
)

// Left notes the objects that an Application of Argo CD no longer applies and leaves in the cluster. No
// request is made for them.
func (l *Ledger) Left() {
	if l.Base == nil {
		return
	}
	applied := l.appliedNames()
	for _, root := range l.Base.Found.Roots {
		if root.Kind != render.KindArgoCD || root.Unit == nil || !l.Selected(root.RootID) {
			continue
		}
		now, stays := l.Head.Root(root.RootID)
		if stays && (l.Head.Roots[now.RootID] == nil || l.LacksMore(now.RootID)) || !stays && l.FateOf(root) != change.Left {
			continue
		}
		objects := slices.DeleteFunc(l.Change.Left(l.Base.ID(root)), func(o *admission.Object) bool {
			return change.RoleOf(o) != render.RoleObject || applied[nameOf(root, o)]
		})
		if len(objects) == 0 {
			continue
		}
		var names []string
		for _, o := range objects {
			names = append(names, fmt.Sprintf("%s %s", o.GroupVersionKind().Kind, o.Name()))
		}
		slices.Sort(names)
		d := report.Diagnostic{Severity: "note", Root: root.String()}
		if stays {
			d.Message = fmt.Sprintf("%s no longer applied and not deleted, as a sync does not prune: %s", are(len(names), "object"), abbreviate(names))
			d.Location = new(change.LocationOf(l.Head.UnitPosition(now), change.Head))
		} else {
			why := "it has no finalizer that does"
			if change.Suspended(root) {
				why = "its controller skips it"
			}
			d.Message = fmt.Sprintf("the Application is gone, and %s not deleted with it, as %s: %s", are(len(names), "object"), why, abbreviate(names))
			d.Location = new(change.LocationOf(l.Base.UnitPosition(root), change.Base))
		}
		l.Note(d)
	}
}

// appliedNames returns the names of all objects that the head applies, by cluster.
func (l *Ledger) appliedNames() map[clusterName]bool {
	names := map[clusterName]bool{}
	for _, root := range l.Head.Found.Roots {
		for _, o := range l.Head.Roots[root.RootID].All() {
			names[nameOf(root, o)] = true
		}
	}
	return names
}

// clusterName identifies an object in a cluster.
type clusterName struct{ cluster, group, kind, namespace, name string }

func nameOf(root render.Root, o *admission.Object) clusterName {
	cluster := root.Cluster
	if root.Unit != nil {
		cluster = root.Unit.Cluster
	}
	kind := o.GroupVersionKind()
	return clusterName{cluster, kind.Group, kind.Kind, o.Namespace(), o.Name()}
}

func are(n int, what string) string {
	if n == 1 {
		return "1 " + what + " is"
	}
	return fmt.Sprintf("%d %ss are", n, what)
}

// LostDependencies warns of units that wait for others which the change deletes.
func (l *Ledger) LostDependencies() {
	for _, root := range l.Head.Found.Roots {
		if !l.Selected(root.RootID) || change.Suspended(root) {
			continue
		}
		for _, other := range l.Change.LostDependencies(root) {
			l.Note(report.Diagnostic{
				Severity: "warning", Root: root.String(),
				Message:  fmt.Sprintf("spec.dependsOn names %s, which the change deletes: nothing of this unit is applied without it", other.Object),
				Location: new(change.LocationOf(root.Unit.Position(context.Background(), "spec.dependsOn"), change.Head)),
			})
		}
	}
}

// Blocked warns of units that the change makes wait for themselves.
func (l *Ledger) Blocked() {
	for _, b := range l.Change.Blocked() {
		if !l.Selected(b.RootID) || change.Suspended(b.Root) {
			continue
		}
		var path []string
		for _, ref := range b.Path {
			path = append(path, ref.String())
		}
		l.Note(report.Diagnostic{
			Severity: "warning", Root: b.Root.String(),
			Message:  fmt.Sprintf("spec.dependsOn leads to a cycle, so that Flux applies nothing of this unit: %s", strings.Join(path, " -> ")),
			Location: new(change.LocationOf(b.Unit.Position(context.Background(), "spec.dependsOn"), change.Head)),
		})
	}
}

// Reinstalled warns about releases that are removed with all their objects and installed again.
func (l *Ledger) Reinstalled() {
	for _, root := range l.Head.Found.Roots {
		if l.Selected(root.RootID) && change.Reinstalled(root) {
			l.Note(report.Diagnostic{
				Severity: "warning", Root: root.String(),
				Message:  fmt.Sprintf("helm-controller removes the release and installs it anew: %s", root.Unit.Release.Reinstalled),
				Location: new(change.LocationOf(l.Head.UnitPosition(root), change.Head)),
			})
		}
	}
}

// Unapplied warns of definitions in crds/ of a chart that an upgrade does not apply.
func (l *Ledger) Unapplied() {
	for _, root := range l.Head.Found.Roots {
		r := l.Head.Roots[root.RootID]
		if !l.Selected(root.RootID) || r == nil || len(r.Unapplied) == 0 {
			continue
		}
		var names []string
		for _, o := range r.Unapplied {
			names = append(names, o.Name())
		}
		slices.Sort(names)
		field := "spec.upgrade.crds"
		if change.Reinstalled(root) {
			field = "spec.install.crds"
		}
		l.Note(report.Diagnostic{
			Severity: "warning", Root: root.String(),
			Message: fmt.Sprintf("%s new or changed in crds/ of the chart and not applied, as %s is %s: %s; the kinds are judged as they were before",
				are(len(names), "CustomResourceDefinition"), field, root.Unit.Release.CRDs(), abbreviate(names)),
			Location: new(change.LocationOf(l.Head.UnitPosition(root), change.Head)),
		})
	}
}

// Preserved adds the releases that a change touches and whose upgrades keep values of earlier releases,
// which are not in the repository.
func (l *Ledger) Preserved() {
	if l.Base == nil {
		return
	}
	for _, root := range l.Head.Found.Roots {
		if !l.Selected(root.RootID) || !l.Touched[root.RootID] || !change.PreservesValues(root) {
			continue
		}
		why := "an upgrade keeps values of the releases before, and defaults of their charts (spec.upgrade.preserveValues): which objects it makes is not known where they differ from those of the HelmRelease"
		l.Add(Gap{Tree: change.Head, Gap: render.Gap{
			Kind: render.GapSync, Root: root.RootID, Position: render.Position{Path: root.Dir}, Why: why, Identity: why,
			Locate: func() render.Position { return root.Unit.Position(context.Background(), "spec.upgrade.preserveValues") },
		}})
	}
}
