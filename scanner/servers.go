package scanner

import (
	"context"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/server"
)

// servers are the API servers that decide the requests of a target. Roots that see the
// same share them.
type servers struct {
	target  *target
	builder *server.Builder
	// definitions are the CRDs of the head that differ from the base's: they are
	// applied before the objects that need them.
	definitions *admission.Index
}

func newServers(t *target, compiler *policy.Compiler) *servers {
	s := &servers{target: t, builder: server.NewBuilder(server.Options{User: t.user, Compiler: compiler})}
	crds := []*admission.Object{}
	for _, key := range t.changed {
		if defs := t.head.governing[key]; key.Kind == kinds.Definition.Kind && key.Group == kinds.Definition.Group && len(defs) > 0 {
			crds = append(crds, defs[0].object)
		}
	}
	s.definitions = admission.NewIndex(crds)
	return s
}

// everything returns the cluster that knows all kinds of the change, those of the head
// before those of the base where their definitions differ.
func (s *servers) everything() *admission.Cluster {
	t := s.target
	return s.builder.Cluster(s.definitions, t.base.shared, t.base.given, t.head.shared, t.head.given)
}

// rootReview is what decides the requests about the objects of one root, and how the
// change affects it.
type rootReview struct {
	root  render.RootID
	reach reach
	// workloads is set when workloads are expanded into what their controllers create.
	workloads bool
	// inForce has the policies of the base, proposed those of the head. They are the same
	// when nothing that governs the root differs, or there is no base. before decides on
	// the base's objects by the base alone.
	inForce, proposed, before *server.Server
	// refusals are the head's policies that an API server would not accept, before
	// the change and after it.
	refusalsBefore, refusals []policy.Refusal
}

// review returns what decides the requests about a root's objects.
func (s *servers) review(ctx context.Context, root render.RootID) *rootReview {
	t := s.target
	r := &rootReview{root: root}
	r.proposed, r.refusals = s.server(ctx, t.head, root, nil, nil)
	r.inForce, r.before, r.refusalsBefore = r.proposed, r.proposed, r.refusals
	if t.base == nil {
		return r
	}
	if r.reach = reachOf(root, t.base, t.head, t.changed); r.reach.any {
		r.before, r.refusalsBefore = s.server(ctx, t.base, root, nil, nil)
		r.inForce, _ = s.server(ctx, t.base, root, []*admission.Index{s.definitions}, t.head)
	}
	return r
}

// server returns the server with the policies of a state that a root sees. Objects of
// first come before those of the state, objects of also after them.
func (s *servers) server(ctx context.Context, st *state, root render.RootID, first []*admission.Index, also *state) (*server.Server, []policy.Refusal) {
	views, refusals := []server.View{}, []policy.Refusal{}
	for _, set := range st.policySets(root) {
		layers := slices.Concat(first, st.layersFor(root, set.lead))
		if also != nil {
			layers = append(layers, also.layersFor(root, set.lead)...)
		}
		loaded := s.builder.Load(ctx, st.cluster, set.objects)
		refusals = append(refusals, loaded.Refusals...)
		views = append(views, server.View{Cluster: s.builder.Cluster(layers...), Policies: loaded.Set})
	}
	return s.builder.Server(views...), refusals
}
