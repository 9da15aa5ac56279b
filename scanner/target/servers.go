package target

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	apiserver "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/controllers"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/server"
)

// Servers are the API servers that decide the requests of a target. Roots that see the same objects
// share them.
type Servers struct {
	Target  *Target
	builder *server.Builder
	// definitions are the CRDs of the head that differ from the base's: they are applied before the
	// objects of their kinds.
	definitions *admission.Index
	// later maps a layer of the head to the part of it that policies in force see.
	later map[*admission.Index]*admission.Index
}

func NewServers(t *Target, compiler *policy.Compiler) *Servers {
	s := &Servers{Target: t, builder: server.NewBuilder(server.Options{ClusterOptions: t.Options(), User: t.User, Applier: t.PolicyApplier, Compiler: compiler}), later: map[*admission.Index]*admission.Index{}}
	crds := []*admission.Object{}
	for _, key := range t.Changed {
		if defs := t.Head.Governing[key]; key.Kind == kinds.Definition.Kind && key.Group == kinds.Definition.Group && len(defs) > 0 {
			crds = append(crds, defs[0].Object)
		}
	}
	s.definitions = admission.NewIndex(crds)
	return s
}

// everything returns a cluster that knows all kinds of the change. Where definitions differ, those of
// the head come before those of the base.
func (s *Servers) everything() *admission.Cluster {
	t := s.Target
	return s.builder.Cluster(s.definitions, t.Base.Shared, t.Base.Given, t.Head.Shared, t.Head.Given)
}

// RootReview decides the requests about the objects of one root, and describes how the change affects
// it.
type RootReview struct {
	Root render.RootID
	// Target is the name of the target; empty for the only one.
	Target string
	Reach  Reach
	// Deployer is the object that defines the root's unit, if another user applies objects of the root than
	// before; nil otherwise, or if the repository does not have it.
	Deployer *admission.Object
	// Workloads is set when workloads are expanded into the objects that their controllers create.
	Workloads bool
	// InForce has the policies of the base, Proposed those of the head. They are the same when
	// nothing that governs the root differs, or there is no base. Before decides on the base's
	// objects by the base alone.
	InForce, Proposed, Before *server.Server
	// Refusals are the head's policies that an API server would not accept, RefusalsBefore the
	// base's.
	RefusalsBefore, Refusals []policy.Refusal
}

// Review returns the review of the requests about a root's objects.
func (s *Servers) Review(ctx context.Context, root render.RootID) *RootReview {
	t := s.Target
	r := &RootReview{Root: root, Target: t.Name}
	r.Proposed, r.Refusals = s.server(ctx, t.Head, root, nil, nil)
	r.InForce, r.Before, r.RefusalsBefore = r.Proposed, r.Proposed, r.Refusals
	if t.Base == nil {
		return r
	}
	if r.Reach = reachOf(root, t.Base, t.Head, t.Changed); r.Reach.Any {
		r.Before, r.RefusalsBefore = s.server(ctx, t.Base, root, nil, nil)
		r.InForce, _ = s.server(ctx, t.Base, root, []*admission.Index{s.definitions}, t.Head)
	}
	return r
}

// server returns the server with the policies of a state that a root sees. Objects of first precede
// those of the state, objects of also follow them.
func (s *Servers) server(ctx context.Context, st *State, root render.RootID, first []*admission.Index, also *State) (*server.Server, []policy.Refusal) {
	views, refusals := []server.View{}, []policy.Refusal{}
	for _, set := range st.policySets(root) {
		layers := slices.Concat(first, st.layersFor(root, set.lead))
		if also != nil {
			for _, layer := range also.layersFor(root, set.lead) {
				layers = append(layers, s.seenInForce(layer))
			}
		}
		loaded := s.builder.Load(ctx, st.Cluster, set.objects)
		refusals = append(refusals, loaded.Refusals...)
		views = append(views, server.View{Cluster: s.builder.Cluster(layers...), Policies: loaded.Set})
	}
	return s.builder.Server(views...), refusals
}

// seenInForce returns the part of a layer of the head that policies in force see: all but the objects
// that grant rights, since a change could grant itself an exemption.
func (s *Servers) seenInForce(layer *admission.Index) *admission.Index {
	if s.later[layer] == nil {
		s.later[layer] = layer.Without(func(kind schema.GroupKind) bool { return kinds.Of(kind).Effect == kinds.Authorizes })
	}
	return s.later[layer]
}

// PoliciesFor returns the names of the policies that may decide differently than before about an
// object that did not change; all is set when every policy may, since the server may read the object
// differently, or other policies change it.
func (h *RootReview) PoliciesFor(p Pair) (names map[string]bool, all bool) {
	names, all = h.Reach.policiesFor(p)
	return names, all || h.mutatesAnew(p)
}

// mutatesAnew reports whether policies may change an object, or the objects created from it,
// differently than before.
func (h *RootReview) mutatesAnew(p Pair) bool {
	names := h.Reach.mutationsFor(p)
	if len(names) == 0 {
		return false
	}
	created := controllers.GeneratedBy(p.Object().GroupVersionKind().GroupKind())
	return slices.ContainsFunc([]*server.Server{h.Proposed, h.Before}, func(s *server.Server) bool {
		return s.MayMutate(names, p.Object(), p.Operation()) || s.MayMutate(names, p.Object(), apiserver.Create) ||
			h.Workloads && s.MayMutateCreated(created, names)
	})
}

// Concerns reports whether the change affects a pair: its objects differ, or the objects that govern
// it do.
func (h *RootReview) Concerns(p Pair) bool {
	if !p.Same {
		return true
	}
	if !h.Reach.Any && !p.OtherUser || kinds.IsPolicy(p.Object().GroupVersionKind().GroupKind()) {
		return false
	}
	names, all := h.PoliciesFor(p)
	return all || len(names) > 0 && h.Proposed.MayMatch(names, p.Object(), p.Operation()) || h.concernsCreated(p, names)
}

// concernsCreated reports whether the change affects the objects that are created from an object that
// did not change.
func (h *RootReview) concernsCreated(p Pair, names map[string]bool) bool {
	resources := controllers.GeneratedBy(p.Object().GroupVersionKind().GroupKind())
	if !h.Workloads || len(resources) == 0 {
		return false
	}
	return len(names) > 0 && h.Proposed.MayMatchCreated(resources, names) ||
		h.Reach.Namespaces[p.Key.Namespace] && controllers.JudgesPods(h.Proposed.Cluster(), p.Key.Namespace)
}
