package scanner

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/argocd"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/controllers"
	"github.com/preadmit/preadmit/scanner/gaps"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/server"
	"github.com/preadmit/preadmit/scanner/target"
)

// chartVersion is a chart whose version in a unit changes.
type chartVersion struct {
	name, from, to string
	// field is the field of the unit's object that sets the version; empty for HelmReleases.
	field string
}

// chartVersions returns the charts whose version differs between the base and the head of a root.
func chartVersions(base, head *change.Rendered) (all []chartVersion) {
	if base == nil || head == nil || base == head || base.Root.Unit == nil || head.Root.Unit == nil {
		return nil
	}
	was, is := base.Root.Unit, head.Root.Unit
	if was.Release != nil && is.Release != nil {
		a, b := was.Release.Chart, is.Release.Chart
		if a.Name != "" && a.Name == b.Name && a.Version != b.Version {
			all = append(all, chartVersion{name: b.Name, from: a.Version, to: b.Version})
		}
	}
	if was.Application == nil || is.Application == nil {
		return all
	}
	app, err := argocd.Parse(is.Object)
	if err != nil {
		return all
	}
	previous := previousCharts(was.Application, is.Application)
	for i := range is.Application.Sources {
		before, after := previous[i], is.Application.Sources[i].Artifact
		if before != nil && before.Version != after.Version {
			all = append(all, chartVersion{after.Name, before.Version, after.Version, app.SourceField(i) + ".targetRevision"})
		}
	}
	return all
}

// previousCharts returns, by the index of their source, the charts of an Application that it had before: the same
// version if it is there, else another version of the same repository, else a chart of the same name elsewhere.
func previousCharts(was, is *render.Application) map[int]*render.Artifact {
	previous, used := map[int]*render.Artifact{}, map[*render.Artifact]bool{}
	for _, same := range []func(a, b *render.Artifact) bool{
		func(a, b *render.Artifact) bool { return a.URL == b.URL && a.Name == b.Name && a.Version == b.Version },
		func(a, b *render.Artifact) bool { return a.URL == b.URL && a.Name == b.Name },
		func(a, b *render.Artifact) bool { return a.Name == b.Name },
	} {
		for i := range is.Sources {
			if !is.Sources[i].IsChart() || previous[i] != nil {
				continue
			}
			for j := range was.Sources {
				before := was.Sources[j].Artifact
				if was.Sources[j].IsChart() && !used[before] && same(before, is.Sources[i].Artifact) {
					previous[i], used[before] = before, true
					break
				}
			}
		}
	}
	return previous
}

// charts returns the charts whose version changes, with the changed objects of their units. read has the units with a
// change that policies read or may read. reached is set if a change of policies, params or other deciding objects may
// affect objects of any unit.
func (s *scan) charts(ctx context.Context, read map[render.RootID]bool, reached bool) (all []report.ChartChange) {
	if s.Base == nil {
		return nil
	}
	cluster := admission.NewCluster(admission.ClusterOptions{}, s.Head.Index(), s.Base.Index())
	for _, root := range s.SelectedRoots() {
		base, head, ok := s.Sides(root)
		if !ok || head == nil {
			continue
		}
		for _, v := range chartVersions(base, head) {
			c := report.ChartChange{Root: head.Root.String(), Chart: v.name, From: v.from, To: v.to, Objects: changedObjects(cluster, base, head)}
			c.Location = change.LocationOf(s.versionAt(ctx, head.Root, v), change.Head)
			c.Unread = !change.Reinstalled(head.Root) && !read[root] && !(reached && s.governs(c.Objects)) && !s.LacksMore(root) && s.Whole(root) && s.hasPolicies(root)
			for _, o := range c.Objects {
				switch o.Change {
				case report.ObjectAdded:
					c.Added++
				case report.ObjectChanged:
					c.Changed++
				case report.ObjectRemoved:
					c.Removed++
				}
			}
			if c.LeftOut = max(0, len(c.Objects)-maxChartObjects); c.LeftOut > 0 {
				c.Objects = c.Objects[:maxChartObjects]
			}
			all = append(all, c)
		}
	}
	return all
}

// settleCharts clears Unread of the charts of a report if a part of their unit, or a policy, was not judged.
func settleCharts(r *report.Report) {
	for i := range r.Charts {
		c := &r.Charts[i]
		c.Unread = c.Unread && !slices.ContainsFunc(r.Indeterminate, func(i report.Indeterminate) bool {
			return i.Root == c.Root || i.What == string(gaps.Policy)
		})
	}
}

// maxChartObjects is the maximum number of objects listed for a chart.
const maxChartObjects = 100

// versionAt returns the position where the version of a chart is written.
func (s *scan) versionAt(ctx context.Context, root render.Root, v chartVersion) render.Position {
	if v.field != "" && root.Unit.Parent != (render.RootID{}) {
		if at := root.Unit.Position(ctx, v.field); at.Line > 0 {
			return at
		}
	} else if r := root.Unit.Release; r != nil {
		if at, ok := root.Unit.FirstPosition(ctx, r.Named); ok {
			return at
		}
	}
	return s.Head.UnitPosition(root)
}

// hasPolicies reports whether policies judge the target of a root.
func (s *scan) hasPolicies(root render.RootID) bool {
	for _, t := range s.targets {
		if slices.Contains(t.Roots, root) && len(t.Head.VisiblePolicies(root).Bindings) > 0 {
			return true
		}
	}
	return false
}

// changedObjects returns the objects of a unit that were added, changed or removed.
func changedObjects(cluster *admission.Cluster, base, head *change.Rendered) []report.ChartObject {
	all := []report.ChartObject{}
	before := map[admission.Key][]*admission.Object{}
	for _, o := range base.Objects {
		before[cluster.Key(o)] = append(before[cluster.Key(o)], o)
	}
	add := func(o *admission.Object, what string) {
		all = append(all, report.ChartObject{Change: what, Object: *change.ObjectOf(o, cluster.Key(o))})
	}
	for _, o := range head.Objects {
		key := cluster.Key(o)
		if len(before[key]) == 0 {
			add(o, report.ObjectAdded)
			continue
		}
		if !change.Equal(before[key][0], o) {
			add(o, report.ObjectChanged)
		}
		before[key] = before[key][1:]
	}
	for _, o := range base.Objects {
		if key := cluster.Key(o); len(before[key]) > 0 && before[key][0] == o {
			add(o, report.ObjectRemoved)
			before[key] = before[key][1:]
		}
	}
	slices.SortStableFunc(all, func(a, b report.ChartObject) int {
		return cmp.Or(cmp.Compare(a.Object.Kind, b.Object.Kind), cmp.Compare(a.Object.Namespace, b.Object.Namespace), cmp.Compare(a.Object.Name, b.Object.Name))
	})
	return all
}

// noteReach records whether policies or other deciding objects for the pair changed, so that its verdict may change
// even if the object does not.
func (r *review) noteReach(kind schema.GroupKind) {
	names, all := r.PoliciesFor(r.Pair)
	r.out.reached = r.Same || all || len(names) > 0
	r.out.read = r.versioned && (r.out.reached || kinds.IsPolicy(kind))
}

// governs reports whether one of the objects is of a kind that decides how other objects are judged.
func (s *scan) governs(objects []report.ChartObject) bool {
	governing := map[schema.GroupKind]bool{}
	for _, t := range s.targets {
		for _, state := range []*target.State{t.Base, t.Head} {
			if state == nil {
				continue
			}
			for key := range state.Governing {
				governing[schema.GroupKind{Group: key.Group, Kind: key.Kind}] = true
			}
		}
	}
	return slices.ContainsFunc(objects, func(o report.ChartObject) bool {
		return governing[schema.FromAPIVersionAndKind(o.Object.APIVersion, o.Object.Kind).GroupKind()]
	})
}

// noteReads records, for units with a changed chart version, whether policies read or may read a part of the object
// that changes.
func (r *review) noteReads(s *server.Server, final, before *server.Verdict) {
	if !r.versioned || r.out.read {
		return
	}
	o := r.Object()
	if final.Request == nil && final.Reached() { // of a kind that no policy matches
		return
	}
	names, all := r.PoliciesFor(r.Pair)
	r.out.read = all || len(names) > 0 || s.MayMutate(nil, o, r.Operation()) || !final.Reached() ||
		!s.ReadsAlike(r.Before, before.Request, final.Request)
}

// noteReadsCreated does the same for the objects that a controller creates from the object.
func (r *review) noteReadsCreated(s *server.Server, final, before expansion) {
	if !r.versioned || r.out.read {
		return
	}
	resources := controllers.GeneratedBy(r.Object().GroupVersionKind().GroupKind())
	r.out.read = final.cut || before.cut || s.MayMutateCreated(resources, nil)
	for i := range final.objects {
		m := &final.objects[i]
		was, _ := before.of(m.kind)
		r.out.read = r.out.read || m.Request == nil || !s.ReadsAlike(r.Before, was.Request, m.Request)
	}
}
