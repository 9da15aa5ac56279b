package target

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy/written"
)

// changedKeys returns the keys of governing objects that differ anywhere between two states: a
// superset of those that differ for any one root, computed once for all of them.
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

// Reach describes the effect of changed governing objects on the objects of one root that did not
// change themselves.
type Reach struct {
	// Any is set when any object that governs the root differs.
	Any bool
	// policies are the names of policies whose text, bindings or params changed, or that read changed
	// RBAC objects.
	policies map[string]bool
	// Namespaces are the names of changed Namespaces, NamespacePolicies those of policies that read
	// namespaces: these policies may decide differently about the objects in them.
	Namespaces        map[string]bool
	NamespacePolicies map[string]bool
	// mutations are the names of policies that may change objects differently than before, and
	// namespaceMutations those of policies that read namespaces.
	mutations, namespaceMutations map[string]bool
	// userPolicies and userMutations are the names of policies that read who makes a request; nil if the
	// same user applies all objects as before.
	userPolicies, userMutations map[string]bool
	// kinds are the custom kinds whose definitions changed.
	kinds map[schema.GroupKind]bool

	params []admission.Key
	rbac   bool
}

// reachOf computes the effect of changed keys on root.
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
		r.addAffected(head.VisiblePolicies(root), r.policies, r.NamespacePolicies)
		r.addAffected(head.VisibleMutations(root), r.mutations, r.namespaceMutations)
		r.addAffected(base.VisibleMutations(root), r.mutations, r.namespaceMutations)
	}
	return r
}

// add records a changed object, given all its versions.
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

// addAffected adds to reached the names of the policies that other changed objects affect, and to
// inNamespaces those that read namespaces.
func (r *Reach) addAffected(v Visible, reached, inNamespaces map[string]bool) {
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

// reaches reports whether a policy with its bindings may decide differently than before.
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

// policiesFor returns the names of the policies that may decide differently than before about an
// object that did not change; all is set when every policy may.
func (r *Reach) policiesFor(p Pair) (names map[string]bool, all bool) {
	if r.kinds[schema.GroupKind{Group: p.Key.Group, Kind: p.Key.Kind}] {
		return nil, true
	}
	return r.affecting(p, r.policies, r.NamespacePolicies, r.userPolicies), false
}

// mutationsFor returns the names of the policies that may change an object differently than before,
// although the object itself did not change.
func (r *Reach) mutationsFor(p Pair) map[string]bool {
	return r.affecting(p, r.mutations, r.namespaceMutations, r.userMutations)
}

// affecting returns the names in reached, for objects in a changed namespace those in inNamespaces, and
// for objects that another user applies those in ofUsers.
func (r *Reach) affecting(p Pair, reached, inNamespaces, ofUsers map[string]bool) map[string]bool {
	namespace := p.Key.Namespace
	if p.Key.Group == "" && p.Key.Kind == "Namespace" {
		namespace = p.Key.Name
	}
	sets := []map[string]bool{reached}
	if r.Namespaces[namespace] && len(inNamespaces) > 0 {
		sets = append(sets, inNamespaces)
	}
	if p.OtherUser && len(ofUsers) > 0 {
		sets = append(sets, ofUsers)
	}
	if len(sets) == 1 {
		return reached
	}
	names := map[string]bool{}
	for _, set := range sets {
		maps.Copy(names, set)
	}
	return names
}
