package target

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// State is the state of a target on one side of the change: the objects of its roots in the order of
// their paths, then those given by configuration and flags. A root sees its own objects first, then
// those of other roots, then the given ones.
type State struct {
	side   *change.Side
	Roots  []*change.Rendered
	Shared *admission.Index
	Given  *admission.Index
	// Cluster has all objects, without a preference for those of any root.
	Cluster *admission.Cluster
	// Releases are the HelmReleases of the roots.
	Releases []*admission.Object
	// Governing are the objects that affect how others are judged.
	Governing map[admission.Key][]Definition
	// PolicyKeys are the keys of policies and bindings, in order.
	PolicyKeys []admission.Key
	// nameless are policies and bindings whose name is missing or not a string; a server refuses them.
	nameless []*admission.Object
	// Ambiguous are the keys that roots define differently, in order.
	Ambiguous []admission.Key

	created *created
	// given are the objects of Given.
	given []*admission.Object

	mu  sync.Mutex
	own map[render.RootID]*admission.Index
}

// Definition is one version of a governing object and the roots that have it.
// Given objects have no roots.
type Definition struct {
	Object *admission.Object
	// content is the same pointer for equal objects in all states that are compared.
	content *admission.Object
	Roots   []render.RootID
}

// contents maps keys to distinct objects; one object stands for all equal ones.
type contents map[admission.Key][]*admission.Object

func (c contents) of(key admission.Key, o *admission.Object) *admission.Object {
	for _, known := range c[key] {
		if change.Equal(known, o) {
			return known
		}
	}
	c[key] = append(c[key], o)
	return o
}

func newState(from *change.Side, opts admission.ClusterOptions, roots []*change.Rendered, given []*admission.Object) *State {
	made := createdIn(roots, given)
	roots = made.applied(roots)
	s := &State{side: from, Roots: roots, created: made, given: given, Given: admission.NewIndex(given), own: map[render.RootID]*admission.Index{}}
	s.share(opts)
	return s
}

// share rebuilds the indexes of the objects of all roots.
func (s *State) share(opts admission.ClusterOptions) {
	all := []*admission.Object{}
	for _, r := range s.Roots {
		all = append(all, r.Objects...)
	}
	s.Releases = slices.DeleteFunc(slices.Clone(all), func(o *admission.Object) bool { return o.GroupVersionKind().GroupKind() != kinds.HelmRelease })
	s.Shared = admission.NewIndex(all)
	s.Cluster = admission.NewCluster(opts, s.Shared, s.Given)
}

// govern collects the governing objects: those of a fixed set of kinds and of the kinds that policies
// take as params.
func (s *State) govern(params map[schema.GroupKind]bool, known contents) {
	s.Governing, s.PolicyKeys, s.Ambiguous, s.nameless = map[admission.Key][]Definition{}, nil, nil, nil
	for _, r := range s.Roots {
		for _, o := range r.Objects {
			s.define(o, r.ID, params, known)
		}
	}
	for _, o := range s.given {
		s.define(o, render.RootID{}, params, known)
	}
	for key, defs := range s.Governing {
		if len(defs) > 1 && len(defs[1].Roots) > 0 {
			s.Ambiguous = append(s.Ambiguous, key)
		}
		if kinds.IsPolicy(schema.GroupKind{Group: key.Group, Kind: key.Kind}) {
			s.PolicyKeys = append(s.PolicyKeys, key)
		}
	}
	slices.SortFunc(s.PolicyKeys, compareKeys)
	slices.SortFunc(s.Ambiguous, compareKeys)
}

func (s *State) define(o *admission.Object, root render.RootID, params map[schema.GroupKind]bool, known contents) {
	kind := o.GroupVersionKind().GroupKind()
	if isNameless(o) && o.GenerateName() == "" && kinds.IsPolicy(kind) {
		s.nameless = append(s.nameless, o)
	}
	if isNameless(o) || !kinds.Of(kind).Governs && !params[kind] {
		return
	}
	key := s.Cluster.Key(o)
	content := known.of(key, o)
	defs := s.Governing[key]
	i := slices.IndexFunc(defs, func(d Definition) bool {
		return (len(d.Roots) == 0) == (root == (render.RootID{})) && d.content == content
	})
	switch {
	case i < 0 && root == (render.RootID{}):
		s.Governing[key] = append(defs, Definition{Object: o, content: content})
	case i < 0:
		s.Governing[key] = append(defs, Definition{Object: o, content: content, Roots: []render.RootID{root}})
	case root != (render.RootID{}) && !slices.Contains(defs[i].Roots, root):
		defs[i].Roots = append(defs[i].Roots, root)
	}
}

// Visible returns the versions of a governing object that root sees: its own, else every distinct one
// of the other roots, else the given one.
func (s *State) Visible(root render.RootID, key admission.Key) []Definition {
	others := []Definition{}
	for _, d := range s.Governing[key] {
		if slices.Contains(d.Roots, root) {
			return []Definition{d}
		}
		if len(d.Roots) > 0 {
			others = append(others, d)
		}
	}
	if len(others) > 0 {
		return others
	}
	return s.Governing[key][:min(1, len(s.Governing[key]))]
}

// objects returns the objects that root itself renders to.
func (s *State) objects(root render.RootID) []*admission.Object {
	if s == nil {
		return nil
	}
	for _, r := range s.Roots {
		if r.ID == root {
			return r.Objects
		}
	}
	return nil
}

// layersFor returns the layers of root's look-ups: its own objects if they differ from those it would
// find otherwise, then lead's likewise, then those of all roots.
func (s *State) layersFor(root, lead render.RootID) []*admission.Index {
	layers := []*admission.Index{}
	for _, first := range []render.RootID{root, lead} {
		if first != (render.RootID{}) && s.differs(first) {
			layers = append(layers, s.index(first))
		}
	}
	return append(layers, s.Shared, s.Given)
}

// differs reports whether root defines an object that affects how others are judged in another
// version than the one that is found first.
func (s *State) differs(root render.RootID) bool {
	for _, o := range s.objects(root) {
		if defs := s.Governing[s.Cluster.Key(o)]; len(defs) > 0 && !slices.Contains(defs[0].Roots, root) {
			return true
		}
		if kinds.Of(o.GroupVersionKind().GroupKind()).Effect != kinds.Completes {
			continue
		}
		r, ok := s.Cluster.Resource(o.GroupVersionKind())
		if ok && !change.Equal(s.Cluster.Find(r, o.Namespace(), o.Name()), o) {
			return true
		}
	}
	return false
}

// index returns the index of root's objects.
func (s *State) index(root render.RootID) *admission.Index {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own[root] == nil {
		s.own[root] = admission.NewIndex(s.objects(root))
	}
	return s.own[root]
}

// Visible are policies of one kind and their bindings, in every version that a root sees.
type Visible struct{ Policies, Bindings []*admission.Object }

// VisiblePolicies returns the ValidatingAdmissionPolicies that root sees.
func (s *State) VisiblePolicies(root render.RootID) Visible {
	return s.visibleOf(root, kinds.Policy, kinds.Binding)
}

// VisibleMutations returns the MutatingAdmissionPolicies that root sees.
func (s *State) VisibleMutations(root render.RootID) Visible {
	return s.visibleOf(root, kinds.Mutation, kinds.MutationBinding)
}

func (s *State) visibleOf(root render.RootID, policy, binding schema.GroupKind) (v Visible) {
	for _, key := range s.PolicyKeys {
		for _, d := range s.Visible(root, key) {
			switch key.Kind {
			case policy.Kind:
				v.Policies = append(v.Policies, d.Object)
			case binding.Kind:
				v.Bindings = append(v.Bindings, d.Object)
			}
		}
	}
	return v
}

// policySets returns the sets of policies and bindings that govern root. There are several only if
// other roots define an object of the same name differently and root itself does not define it: then
// each of them leads a set, in which its versions precede those of others.
func (s *State) policySets(root render.RootID) []policySet {
	leads := []render.RootID{{}}
	for _, key := range s.PolicyKeys {
		if defs := s.Visible(root, key); len(defs) > 1 {
			for _, d := range defs {
				leads = append(leads, d.Roots...)
			}
		}
	}
	if len(leads) > 1 {
		leads = leads[1:]
		slices.SortFunc(leads, render.RootID.Compare)
		leads = slices.Compact(leads)
	}
	sets := []policySet{}
	for _, lead := range leads {
		set := policySet{lead: lead, objects: s.policiesLedBy(root, lead)}
		if !slices.ContainsFunc(sets, func(other policySet) bool { return slices.Equal(other.objects, set.objects) }) {
			sets = append(sets, set)
		}
	}
	return sets
}

// policySet is one set of policies and bindings, and the root whose versions precede others, if that
// made a difference.
type policySet struct {
	lead    render.RootID
	objects []*admission.Object
}

func (s *State) policiesLedBy(root, lead render.RootID) []*admission.Object {
	objects := []*admission.Object{}
	for _, key := range s.PolicyKeys {
		defs := s.Visible(root, key)
		i := max(0, slices.IndexFunc(defs, func(d Definition) bool { return slices.Contains(d.Roots, lead) }))
		objects = append(objects, defs[i].Object)
	}
	return append(objects, s.nameless...)
}
