package change

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy/before"
	"github.com/preadmit/preadmit/render/deploy/definitions"
	"github.com/preadmit/preadmit/render/deploy/objects"
	"github.com/preadmit/preadmit/scanner/admission"
)

// stateQueries records which parts of the state before the change the units of the head read. The answers depend
// on the units of both trees, so the head is expanded first with this recorder, which answers as if there were no state.
type stateQueries struct {
	before.Nothing
	clusters []string
	objects  []namedIn
	releases []released
	apps     []generated
}

// namedIn is an object of a cluster.
type namedIn struct {
	cluster string
	render.ObjectRef
}

// released is a release with the definitions in crds/ of its chart.
type released struct {
	render.Root
	all []render.Definition
}

// generated is an Application that an ApplicationSet would create and not update.
type generated struct {
	namedIn
	now json.RawMessage
}

func (q *stateQueries) Kept(cluster string) []render.Definition {
	if !slices.Contains(q.clusters, cluster) {
		q.clusters = append(q.clusters, cluster)
	}
	return nil
}

func (q *stateQueries) Applied(release render.Root, all []render.Definition) []render.Definition {
	if len(all) > 0 {
		q.releases = append(q.releases, released{release, all})
	}
	return all
}

func (q *stateQueries) Application(cluster string, object render.ObjectRef, now json.RawMessage) json.RawMessage {
	q.apps = append(q.apps, generated{namedIn{cluster, object}, now})
	return nil
}

func (q *stateQueries) Deletes(cluster string, object render.ObjectRef) bool {
	q.objects = append(q.objects, namedIn{cluster, object})
	return false
}

// stateBefore is the state of clusters before the change.
type stateBefore struct {
	kept    map[string][]render.Definition
	deleted map[namedIn]bool
	applies func(release render.Root, all []render.Definition) []render.Definition
	was     func(cluster string, object render.ObjectRef, now json.RawMessage) json.RawMessage
}

func (b *stateBefore) Kept(cluster string) []render.Definition { return b.kept[cluster] }

func (b *stateBefore) Applied(release render.Root, all []render.Definition) []render.Definition {
	return b.applies(release, all)
}

func (b *stateBefore) Application(cluster string, object render.ObjectRef, now json.RawMessage) json.RawMessage {
	return b.was(cluster, object, now)
}

func (b *stateBefore) Deletes(cluster string, object render.ObjectRef) bool {
	return b.deleted[namedIn{cluster, object}]
}

// answer returns the answers to queries; nil if they do not differ from those without a state.
func (c *Change) answer(ctx context.Context, q *stateQueries) before.State {
	settled := &Change{Head: c.Head.copied(), Base: c.Base.copied()}
	settled.Base.head = settled.Head
	settled.settle(false, nil)
	a := &stateBefore{kept: map[string][]render.Definition{}, deleted: map[namedIn]bool{}, applies: settled.definitionsAfter, was: settled.applicationBefore}
	matters := slices.ContainsFunc(q.releases, func(r released) bool { return !reflect.DeepEqual(a.applies(r.Root, r.all), r.all) })
	for _, app := range q.apps {
		matters = matters || a.was(app.cluster, app.ObjectRef, app.now) != nil
	}
	for _, cluster := range q.clusters {
		a.kept[cluster] = settled.keptKinds(ctx, cluster)
		matters = matters || len(a.kept[cluster]) > 0
	}
	for _, object := range q.objects {
		a.deleted[object] = settled.deletes(ctx, object)
		matters = matters || a.deleted[object]
	}
	if !matters {
		return nil
	}
	return a
}

// copied returns a copy of a side, so that settling its roots does not change the side.
func (s *Side) copied() *Side {
	other, found, graph := *s, *s.Found, *s.Graph
	other.Found, other.Graph = &found, &graph
	return &other
}

// applicationBefore returns the base's version of an Application; nil if it is equal or missing there.
func (c *Change) applicationBefore(cluster string, object render.ObjectRef, now json.RawMessage) json.RawMessage {
	for _, was := range c.Base.Graph.Units {
		if was.Cluster == cluster && was.Object == object && was.Unit.Application != nil && !(&render.Unit{Object: was.Unit.Object}).Same(&render.Unit{Object: now}) {
			return was.Unit.Object
		}
	}
	return nil
}

// definitionsAfter returns the definitions in crds/ of a release's chart that the cluster has after the release is
// applied: an upgrade adds none by default, and replaces none with Create.
func (c *Change) definitionsAfter(release render.Root, all []render.Definition) []render.Definition {
	i := slices.IndexFunc(c.Base.Graph.Units, func(was render.Root) bool {
		return was.Object == release.Object && was.Cluster == release.Cluster
	})
	if i < 0 || release.Unit.Release.Reapply == "CreateReplace" {
		return all
	}
	was := c.Base.Graph.Units[i]
	if was.Unit.Problem != nil || changedCluster(was.Unit, release.Unit) || reinstalled(was.Unit, release.Unit) != "" {
		return all
	}
	known := definitions.Known{}
	if d, ok := c.Base.Renderer.Declared(was); ok {
		known.Add(d.Definitions)
	}
	var after []render.Definition
	for _, d := range all {
		if before, ok := known.Find(d); ok {
			after = append(after, before)
		} else if release.Unit.Release.Reapply == "Create" {
			after = append(after, d)
		}
	}
	return after
}

// keptKinds returns the custom kinds whose definitions are not in the head, but stay in a cluster.
func (c *Change) keptKinds(ctx context.Context, cluster string) (kept []render.Definition) {
	for _, root := range c.Base.Found.Roots {
		if !c.mayLose(root, cluster) || !c.Base.mayDefine(root) {
			continue
		}
		r := c.Base.renderAndStore(ctx, root)
		if r.Problem != nil {
			continue
		}
		for _, o := range r.Objects {
			if d, ok := render.DefinitionOf(o.JSON); ok && c.keeps(ctx, root, r, o) {
				kept = append(kept, d)
			}
		}
	}
	return kept
}

// mayLose reports whether a root of the base that is applied to a cluster may lose objects by the change.
func (c *Change) mayLose(root render.Root, cluster string) bool {
	_, of := c.Base.Needs(root)
	return of == c.Base.Renderer && slices.Contains(c.ClustersOn(c.Base, root.RootID), cluster)
}

// mayDefine reports whether a root may have CustomResourceDefinitions.
func (s *Side) mayDefine(root render.Root) bool {
	in, of := s.Needs(root)
	if in.Problem != nil || of.MayHold(in, objects.MentionOf(definitions.Kind)) {
		return in.Problem == nil
	}
	d, _ := of.Declared(root)
	return d.May || len(d.Definitions) > 0
}

// keeps reports whether an object of a root of the base is not in the head, but stays in its cluster.
func (c *Change) keeps(ctx context.Context, root render.Root, r *render.Result, o *render.Object) bool {
	if now, ok := c.Head.Root(root.RootID); ok {
		after := c.Head.renderAndStore(ctx, now)
		if after.Problem != nil {
			return true // nothing of it is applied
		}
		if slices.ContainsFunc(after.Objects, func(other *render.Object) bool { return objects.HeaderOf(other).Ref() == objects.HeaderOf(o).Ref() }) {
			return false
		}
	}
	object := admission.ParseObject(o.JSON)
	object.Tag = Origin{Side: c.Base, Root: root, Result: r, Index: o.Index}
	return !c.Removes(c.Base.ID(root), object)
}

// deletes reports whether the change deletes an object of a cluster that no release makes.
func (c *Change) deletes(ctx context.Context, object namedIn) bool {
	mention := render.Mention{Group: object.Group, Kind: object.Kind, Name: object.Name}
	holds := func(s *Side, root render.Root) (r *render.Result, o *render.Object) {
		in, of := s.Needs(root)
		if in.Problem != nil || !slices.Contains(c.ClustersOn(s, root.RootID), object.cluster) || !of.MayHold(in, mention) {
			return nil, nil
		}
		r = s.renderAndStore(ctx, root)
		if held, ok := objects.IndexOf(r)[object.ObjectRef]; ok {
			o = held.Object
		}
		return r, o
	}
	deleted := false
	for _, root := range c.Base.Found.Roots {
		r, o := holds(c.Base, root)
		if o != nil && (root.Kind == render.KindHelm || c.keeps(ctx, root, r, o)) {
			return false
		}
		deleted = deleted || o != nil
	}
	return deleted && !slices.ContainsFunc(c.Head.Found.Roots, func(root render.Root) bool {
		r, o := holds(c.Head, root)
		return o != nil || r != nil && r.Problem != nil
	})
}
