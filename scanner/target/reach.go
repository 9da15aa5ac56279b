package target

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy/written"
)

// changedKeys are the governing objects that differ anywhere between two states: a
// superset of what differs for any one root, found once for all of them.
func changedKeys(base, head *State) []admission.Key {
	keys := []admission.Key{}
	for key, defs := range head.Governing {
		if !sameDefinitions(base.Governing[key], defs, true) {
			keys = append(keys, key)
		}
	}
	for key := range base.Governing {
		if _, ok := head.Governing[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, compareKeys)
	return keys
}

func compareKeys(a, b admission.Key) int { return strings.Compare(a.String(), b.String()) }

func sameDefinitions(a, b []Definition, andRoots bool) bool {
	return slices.EqualFunc(a, b, func(x, y Definition) bool {
		return x.content == y.content && (!andRoots || slices.Equal(x.Roots, y.Roots))
	})
}

// Reach is what a change of governing objects means for the objects of one root
// that did not change themselves.
type Reach struct {
	// Any is set when what governs the root differs at all.
	Any bool
	// policies are the names of policies whose text, bindings or params changed, or
	// the RBAC they ask about.
	policies map[string]bool
	// Namespaces are those that changed, spatial the policies that look at
	// namespaces: together they may decide otherwise about the objects in them.
	Namespaces        map[string]bool
	NamespacePolicies map[string]bool
	// mutations are the names of policies that may change objects otherwise than before, and
	// namespaceMutations those that look at namespaces.
	mutations, namespaceMutations map[string]bool
	// kinds are custom kinds whose definition changed.
	kinds map[schema.GroupKind]bool

	params []admission.Key
	rbac   bool
}

// reachOf works out what the changed keys mean for root.
func reachOf(root render.RootID, base, head *State, keys []admission.Key) Reach {
	r := Reach{
		policies: map[string]bool{}, Namespaces: map[string]bool{},
		NamespacePolicies: map[string]bool{}, kinds: map[schema.GroupKind]bool{},
		mutations: map[string]bool{}, namespaceMutations: map[string]bool{},
	}
	for _, key := range keys {
		before, after := base.Visible(root, key), head.Visible(root, key)
		if !sameDefinitions(before, after, false) {
			r.add(key, slices.Concat(before, after))
		}
	}
	if r.Any {
		r.spread(head.VisiblePolicies(root), r.policies, r.NamespacePolicies)
		r.spread(head.VisibleMutations(root), r.mutations, r.namespaceMutations)
		r.spread(base.VisibleMutations(root), r.mutations, r.namespaceMutations)
	}
	return r
}

// add notes a changed object, given all its versions.
func (r *Reach) add(key admission.Key, versions []Definition) {
	r.Any = true
	kind := schema.GroupKind{Group: key.Group, Kind: key.Kind}
	switch {
	case kind == kinds.Namespace:
		r.Namespaces[key.Name] = true
	case kind == kinds.Policy:
		r.policies[key.Name] = true
	case kind == kinds.Mutation:
		r.mutations[key.Name] = true
	case kinds.IsBinding(kind):
		names := r.policies
		if kind == kinds.MutationBinding {
			names = r.mutations
		}
		for _, v := range versions {
			names[written.BoundPolicy(v.Object)] = true
		}
	case kind == kinds.Definition:
		for _, v := range versions {
			r.kinds[v.Object.Defined()] = true
		}
	case kinds.Of(kind).Effect == kinds.Authorizes:
		r.rbac = true
	default:
		r.params = append(r.params, key)
	}
}

// spread adds the names of the policies that changed objects of other kinds reach, and of those
// that look at namespaces.
func (r *Reach) spread(v Visible, reached, inNamespaces map[string]bool) {
	by := written.ByPolicy(v.Bindings)
	for _, p := range v.Policies {
		if r.reaches(p, by[p.Name()]) {
			reached[p.Name()] = true
		}
		if written.SeesNamespaces(p, by[p.Name()]) {
			inNamespaces[p.Name()] = true
		}
	}
}

// reaches reports whether a policy, which the bindings bind, may say something else than before.
func (r *Reach) reaches(p *admission.Object, bindings []*admission.Object) bool {
	if r.rbac && written.Mentions(p, "authorizer") {
		return true
	}
	kind, ok := written.ParamKind(p)
	if !ok {
		return false
	}
	return r.kinds[kind.GroupKind()] || slices.ContainsFunc(r.params, func(key admission.Key) bool {
		return key.Group == kind.Group && key.Kind == kind.Kind && slices.ContainsFunc(bindings, func(b *admission.Object) bool {
			return written.MayTake(b, key)
		})
	})
}

// policiesFor names the policies that may say something else than before about an
// object that did not change; all is set when every policy may.
func (r *Reach) policiesFor(key admission.Key) (names map[string]bool, all bool) {
	if r.kinds[schema.GroupKind{Group: key.Group, Kind: key.Kind}] {
		return nil, true
	}
	return r.within(key, r.policies, r.NamespacePolicies), false
}

// mutationsFor names the policies that may change an object that did not change itself otherwise
// than before.
func (r *Reach) mutationsFor(key admission.Key) map[string]bool {
	return r.within(key, r.mutations, r.namespaceMutations)
}

// within returns the names of policies that are reached, and of those that look at namespaces for
// what is in a namespace that changed.
func (r *Reach) within(key admission.Key, reached, inNamespaces map[string]bool) map[string]bool {
	namespace := key.Namespace
	if key.Group == "" && key.Kind == "Namespace" {
		namespace = key.Name
	}
	if !r.Namespaces[namespace] || len(inNamespaces) == 0 {
		return reached
	}
	names := map[string]bool{}
	for _, set := range []map[string]bool{reached, inNamespaces} {
		for name := range set {
			names[name] = true
		}
	}
	return names
}
