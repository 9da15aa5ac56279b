package target

import (
	"context"
	"slices"

	apiserver "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// applyOverExported replaces objects of the states that affect how others are judged by what the
// cluster has after the trees are applied: for instance a Namespace with labels that others wrote.
func (t *Target) applyOverExported(ctx context.Context) {
	if len(t.exported) == 0 {
		return
	}
	last := map[admission.Key]*admission.Object{}
	for _, r := range t.Base.Roots {
		for _, o := range r.Objects {
			if key := t.Base.Cluster.Key(o); t.exported[key] != nil {
				last[key] = o
			}
		}
	}
	head, base := t.overExported(ctx, t.Head, last), t.overExported(ctx, t.Base, last)
	if len(head)+len(base) == 0 {
		return
	}
	t.Head.substitute(head, t.naming())
	t.Base.substitute(base, t.naming())
	govern(t.Head, t.Base)
	t.Changed = changedKeys(t.Base, t.Head)
}

// overExported returns, for the objects of a state that affect how others are judged, the results of applying
// them over the live objects. last are the objects of the base.
func (t *Target) overExported(ctx context.Context, s *State, last map[admission.Key]*admission.Object) map[*admission.Object]*admission.Object {
	over := map[*admission.Object]*admission.Object{}
	for _, r := range s.Roots {
		by, assumed := t.ApplierOf(r.Root)
		for _, o := range r.Objects {
			key := s.Cluster.Key(o)
			live := t.exported[key]
			if live == nil || change.RoleOf(o) == render.RoleHook || !s.Decides(key, o) || o.GroupVersionKind().GroupKind() == kinds.Definition {
				continue
			}
			in := admission.ClientRequest{Operation: apiserver.Update, User: t.UserOf(r.Root), Object: o, OldObject: live, Live: true, Last: last[key]}
			in.Applier, _ = AppliedBy(live, by, assumed)
			if applied := appliedOver(ctx, s.Cluster, in); applied != nil {
				over[o] = applied
			}
		}
	}
	return over
}

// appliedOver returns the object that results from an update; nil if the server refuses it, or if the result
// is not known.
func appliedOver(ctx context.Context, cluster *admission.Cluster, in admission.ClientRequest) *admission.Object {
	request, _, err := cluster.Prepare(ctx, in)
	if err != nil {
		return nil
	}
	if open, _ := request.Unknown(); len(open) > 0 {
		return nil
	}
	version, err := request.Version(in.Object.GroupVersionKind())
	if err != nil {
		return nil
	}
	applied := admission.NewObject(version.Object)
	applied.Tag = in.Object.Tag
	return applied
}

// substitute replaces objects of the state by others.
func (s *State) substitute(others map[*admission.Object]*admission.Object, opts admission.ClusterOptions) {
	roots := slices.Clone(s.Roots)
	for i, r := range roots {
		with := *r
		with.Objects = slices.Clone(r.Objects)
		for j, o := range with.Objects {
			if other := others[o]; other != nil {
				with.Objects[j] = other
			}
		}
		roots[i] = &with
	}
	s.Roots, s.own = roots, map[render.RootID]*admission.Index{}
	s.share(opts)
}
