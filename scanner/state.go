package scanner

import (
	"slices"
	"sync"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/kinds"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// state is what a target holds on one side of the change: the objects of its roots
// in the order of their paths, then those given by configuration and flags. A root
// sees its own objects first, then any other root's, then what was given.
type state struct {
	side   *change.Side
	roots  []*change.Rendered
	shared *admission.Index
	given  *admission.Index
	// cluster sees everything, with no root's own objects before others.
	cluster *admission.Cluster
	// governing are the objects that decide how others are judged.
	governing map[admission.Key][]definition
	// policyKeys are the keys of policies and bindings, in order.
	policyKeys []admission.Key
	// ambiguous are the keys that roots define differently, in order.
	ambiguous []admission.Key

	mu  sync.Mutex
	own map[render.RootID]*admission.Index
}

// definition is one version of a governing object and the roots that have it.
// Given objects have no roots.
type definition struct {
	object *admission.Object
	// content is the same for equal objects in all states that are compared.
	content *admission.Object
	roots   []render.RootID
}

// contents finds one object to stand for all equal ones.
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

func newState(from *change.Side, roots []*change.Rendered, given []*admission.Object) *state {
	s := &state{side: from, roots: roots, given: admission.NewIndex(given), own: map[render.RootID]*admission.Index{}}
	all := []*admission.Object{}
	for _, r := range roots {
		all = append(all, r.Objects...)
	}
	s.shared = admission.NewIndex(all)
	s.cluster = admission.NewCluster(admission.ClusterOptions{}, s.shared, s.given)
	return s
}

// govern collects the governing objects, which are those of a fixed set of kinds
// and of the kinds that policies take as params.
func (s *state) govern(params map[schema.GroupKind]bool, known contents, given []*admission.Object) {
	s.governing = map[admission.Key][]definition{}
	for _, r := range s.roots {
		for _, o := range r.Objects {
			s.define(o, r.ID, params, known)
		}
	}
	for _, o := range given {
		s.define(o, render.RootID{}, params, known)
	}
	for key, defs := range s.governing {
		if len(defs) > 1 && len(defs[1].roots) > 0 {
			s.ambiguous = append(s.ambiguous, key)
		}
		if kinds.IsPolicy(schema.GroupKind{Group: key.Group, Kind: key.Kind}) {
			s.policyKeys = append(s.policyKeys, key)
		}
	}
	slices.SortFunc(s.policyKeys, compareKeys)
	slices.SortFunc(s.ambiguous, compareKeys)
}

func (s *state) define(o *admission.Object, root render.RootID, params map[schema.GroupKind]bool, known contents) {
	kind := o.GroupVersionKind().GroupKind()
	if o.Name() == "" || !kinds.Of(kind).Governs && !params[kind] {
		return
	}
	key := s.cluster.Key(o)
	content := known.of(key, o)
	defs := s.governing[key]
	i := slices.IndexFunc(defs, func(d definition) bool {
		return (len(d.roots) == 0) == (root == (render.RootID{})) && d.content == content
	})
	switch {
	case i < 0 && root == (render.RootID{}):
		s.governing[key] = append(defs, definition{object: o, content: content})
	case i < 0:
		s.governing[key] = append(defs, definition{object: o, content: content, roots: []render.RootID{root}})
	case root != (render.RootID{}) && !slices.Contains(defs[i].roots, root):
		defs[i].roots = append(defs[i].roots, root)
	}
}

// seen returns the versions of a governing object that root sees: its own, else
// every distinct one of the other roots, else the given one.
func (s *state) seen(root render.RootID, key admission.Key) []definition {
	others := []definition{}
	for _, d := range s.governing[key] {
		if slices.Contains(d.roots, root) {
			return []definition{d}
		}
		if len(d.roots) > 0 {
			others = append(others, d)
		}
	}
	if len(others) > 0 {
		return others
	}
	return s.governing[key][:min(1, len(s.governing[key]))]
}

// objects are what root itself renders to.
func (s *state) objects(root render.RootID) []*admission.Object {
	if s == nil {
		return nil
	}
	for _, r := range s.roots {
		if r.ID == root {
			return r.Objects
		}
	}
	return nil
}

// layersFor are the layers of root's look-ups: its own objects first where they
// differ from what it would find without, then lead's, then everybody's.
func (s *state) layersFor(root, lead render.RootID) []*admission.Index {
	layers := []*admission.Index{}
	for _, first := range []render.RootID{root, lead} {
		if first != (render.RootID{}) && s.differs(first) {
			layers = append(layers, s.index(first))
		}
	}
	return append(layers, s.shared, s.given)
}

// differs reports whether root defines an object that others are judged by in
// another version than the one that is found first.
func (s *state) differs(root render.RootID) bool {
	for _, o := range s.objects(root) {
		if defs := s.governing[s.cluster.Key(o)]; len(defs) > 0 && !slices.Contains(defs[0].roots, root) {
			return true
		}
		if kinds.Of(o.GroupVersionKind().GroupKind()).Effect != kinds.Completes {
			continue
		}
		r, ok := s.cluster.Resource(o.GroupVersionKind())
		if ok && !change.Equal(s.cluster.Find(r, o.Namespace(), o.Name()), o) {
			return true
		}
	}
	return false
}

// index holds what root defines.
func (s *state) index(root render.RootID) *admission.Index {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own[root] == nil {
		s.own[root] = admission.NewIndex(s.objects(root))
	}
	return s.own[root]
}

// policiesSeen are the policies and bindings that root sees, every version.
func (s *state) policiesSeen(root render.RootID) (policies, bindings []*admission.Object) {
	for _, key := range s.policyKeys {
		for _, d := range s.seen(root, key) {
			if key.Kind == kinds.Policy.Kind {
				policies = append(policies, d.object)
			} else {
				bindings = append(bindings, d.object)
			}
		}
	}
	return policies, bindings
}

// policySets are the sets of policies and bindings that govern root. There is more
// than one only when other roots define an object of the same name differently and
// root itself does not define it: then each of them has its set, in which its own
// version goes before those of others. The set is named by that root.
func (s *state) policySets(root render.RootID) []policySet {
	leads := []render.RootID{{}}
	for _, key := range s.policyKeys {
		if defs := s.seen(root, key); len(defs) > 1 {
			for _, d := range defs {
				leads = append(leads, d.roots...)
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

// policySet is one set of policies and bindings, and the root whose versions went
// before others, if that made a difference.
type policySet struct {
	lead    render.RootID
	objects []*admission.Object
}

func (s *state) policiesLedBy(root, lead render.RootID) []*admission.Object {
	objects := []*admission.Object{}
	for _, key := range s.policyKeys {
		defs := s.seen(root, key)
		i := max(0, slices.IndexFunc(defs, func(d definition) bool { return slices.Contains(d.roots, lead) }))
		objects = append(objects, defs[i].object)
	}
	return objects
}
