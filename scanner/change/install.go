package change

import (
	"cmp"
	"fmt"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/release"
)

// install marks the releases of the head as installed or upgraded. A release is upgraded if both sides have it,
// otherwise installed. A release that replaces a different release or chart of the base is installed again. Those of
// the base are upgraded, also where the head no longer has them: the cluster has had them for an unknown time.
func (c *Change) install() {
	if c.Base == nil {
		return
	}
	identity := func(root render.Root) render.RootID { return render.RootID{Object: root.Object, Cluster: root.Cluster} }
	before := map[render.RootID]int{}
	for i, root := range c.Base.Graph.Units {
		if root.Kind == render.KindHelm {
			before[identity(root)] = i
		}
	}
	for i, root := range c.Head.Graph.Units {
		if root.Kind != render.KindHelm || root.Unit.Release == nil {
			continue
		}
		at, was := before[identity(root)]
		u, r := *root.Unit, *root.Unit.Release
		if was {
			before := c.Base.Graph.Units[at].Unit
			if r.Reinstalled = reinstalled(before, root.Unit); r.Reinstalled == "" {
				if before.Release == nil || before.Release.CreateNamespace == r.CreateNamespace {
					continue
				}
				r.CreateNamespace = before.Release.CreateNamespace // an upgrade does not create the namespace
			} else {
				c.Base.removedBy(at, r.NoDeletionHooks)
			}
		}
		r.Upgrade, u.Release = was && r.Reinstalled == "", &r
		c.Head.Graph.Units[i].Unit = &u
	}
}

// removedBy sets whether the release of a unit is removed without its deletion hooks.
func (s *Side) removedBy(unit int, noHooks bool) {
	u, r := *s.Graph.Units[unit].Unit, *s.Graph.Units[unit].Unit.Release
	r.NoDeletionHooks, u.Release = noHooks, &r
	s.Graph.Units[unit].Unit = &u
}

// reinstalled returns the reason why helm-controller removes the release of a HelmRelease and installs it again, as
// in its ReleaseTargetChanged; empty if it upgrades the release.
func reinstalled(was, now *render.Unit) string {
	if was.Release == nil || now.Release.Own || changedCluster(was, now) {
		return ""
	}
	a, errA := release.ParseHelmRelease(was.Object)
	b, errB := release.ParseHelmRelease(now.Object)
	if errA != nil || errB != nil {
		return ""
	}
	storage := func(h *release.HelmRelease) string { return cmp.Or(h.Spec.StorageNamespace, h.Namespace) }
	for _, t := range []struct{ what, was, now string }{
		{"storage namespace", storage(a), storage(b)},
		{"namespace", a.ReleaseNamespace(), b.ReleaseNamespace()},
		{"name", a.ReleaseName(), b.ReleaseName()},
		{"chart", was.Release.ChartName, now.Release.ChartName},
	} {
		switch {
		case t.was == t.now, t.what == "chart" && (t.was == "" || t.now == "" || b.Spec.Upgrade.ChartNameChangeStrategy == "InPlaceUpdate"):
			continue
		}
		return fmt.Sprintf("the %s of the release changes from %s to %s", t.what, t.was, t.now)
	}
	return ""
}

// PreservesValues reports whether helm-controller upgrades a release with its previous values
// (spec.upgrade.preserveValues): values that the HelmRelease does not set keep their previous value.
func PreservesValues(root render.Root) bool {
	if root.Kind != render.KindHelm || root.Unit == nil || root.Unit.Release == nil || !root.Unit.Release.Upgrade || root.Unit.Release.Own {
		return false
	}
	h, err := release.ParseHelmRelease(root.Unit.Object)
	return err == nil && h.Spec.Upgrade.PreserveValues
}

// Reinstalled reports whether a root is a release that replaces another one of the base, which is removed.
func Reinstalled(root render.Root) bool {
	return root.Unit != nil && root.Unit.Release != nil && root.Unit.Release.Reinstalled != "" && !root.Unit.Apply.Suspended
}
