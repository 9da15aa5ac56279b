package target

import (
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
	}
	for _, key := range keys {
		before, after := base.Visible(root, key), head.Visible(root, key)
		if !sameDefinitions(before, after, false) {
			r.add(key, slices.Concat(before, after))
		}
	}
	if r.Any {
		r.spread(head.VisiblePolicies(root))
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
	case kind == kinds.Binding:
		for _, v := range versions {
			r.policies[policy.BoundPolicy(v.Object)] = true
		}
	case kind == kinds.Definition:
		for _, v := range versions {
			r.kinds[policy.DefinedKind(v.Object)] = true
		}
	case kinds.Of(kind).Effect == kinds.Authorizes:
		r.rbac = true
	default:
		r.params = append(r.params, key)
	}
}

// spread finds the policies that changed objects of other kinds reach.
func (r *Reach) spread(policies, bindings []*admission.Object) {
	by := policy.ByPolicy(bindings)
	for _, p := range policies {
		if r.reaches(p, by[p.Name()]) {
			r.policies[p.Name()] = true
		}
		if policy.SeesNamespaces(p, by[p.Name()]) {
			r.NamespacePolicies[p.Name()] = true
		}
	}
}

// reaches reports whether a policy, which the bindings bind, may say something else than before.
func (r *Reach) reaches(p *admission.Object, bindings []*admission.Object) bool {
	if r.rbac && policy.Mentions(p, "authorizer") {
		return true
	}
	kind, ok := policy.ParamKind(p)
	if !ok {
		return false
	}
	return r.kinds[kind.GroupKind()] || slices.ContainsFunc(r.params, func(key admission.Key) bool {
		return key.Group == kind.Group && key.Kind == kind.Kind && slices.ContainsFunc(bindings, func(b *admission.Object) bool {
			return policy.MayTake(b, key)
		})
	})
}

// PoliciesFor names the policies that may say something else than before about an
// object that did not change; all is set when every policy may.
func (r *Reach) PoliciesFor(key admission.Key) (names map[string]bool, all bool) {
	if r.kinds[schema.GroupKind{Group: key.Group, Kind: key.Kind}] {
		return nil, true
	}
	namespace := key.Namespace
	if key.Group == "" && key.Kind == "Namespace" {
		namespace = key.Name
	}
	if !r.Namespaces[namespace] || len(r.NamespacePolicies) == 0 {
		return r.policies, false
	}
	names = map[string]bool{}
	for _, set := range []map[string]bool{r.policies, r.NamespacePolicies} {
		for name := range set {
			names[name] = true
		}
	}
	return names, false
}
