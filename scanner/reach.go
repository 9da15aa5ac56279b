package scanner

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
func changedKeys(base, head *state) []admission.Key {
	keys := []admission.Key{}
	for key, defs := range head.governing {
		if !sameDefinitions(base.governing[key], defs, true) {
			keys = append(keys, key)
		}
	}
	for key := range base.governing {
		if _, ok := head.governing[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, compareKeys)
	return keys
}

func compareKeys(a, b admission.Key) int { return strings.Compare(a.String(), b.String()) }

func sameDefinitions(a, b []definition, andRoots bool) bool {
	return slices.EqualFunc(a, b, func(x, y definition) bool {
		return x.content == y.content && (!andRoots || slices.Equal(x.roots, y.roots))
	})
}

// reach is what a change of governing objects means for the objects of one root
// that did not change themselves.
type reach struct {
	// any is set when what governs the root differs at all.
	any bool
	// policies are the names of policies whose text, bindings or params changed, or
	// the RBAC they ask about.
	policies map[string]bool
	// namespaces are those that changed, spatial the policies that look at
	// namespaces: together they see the objects in them with other eyes.
	namespaces map[string]bool
	spatial    map[string]bool
	// kinds are custom kinds whose definition changed.
	kinds map[schema.GroupKind]bool

	params []admission.Key
	rbac   bool
}

// reachOf works out what the changed keys mean for root.
func reachOf(root render.RootID, base, head *state, keys []admission.Key) reach {
	r := reach{
		policies: map[string]bool{}, namespaces: map[string]bool{},
		spatial: map[string]bool{}, kinds: map[schema.GroupKind]bool{},
	}
	for _, key := range keys {
		before, after := base.seen(root, key), head.seen(root, key)
		if !sameDefinitions(before, after, false) {
			r.add(key, slices.Concat(before, after))
		}
	}
	if r.any {
		r.spread(head.policiesSeen(root))
	}
	return r
}

// add notes a changed object, given all its versions.
func (r *reach) add(key admission.Key, versions []definition) {
	r.any = true
	kind := schema.GroupKind{Group: key.Group, Kind: key.Kind}
	switch {
	case kind == kinds.Namespace:
		r.namespaces[key.Name] = true
	case kind == kinds.Policy:
		r.policies[key.Name] = true
	case kind == kinds.Binding:
		for _, v := range versions {
			r.policies[policy.BoundPolicy(v.object)] = true
		}
	case kind == kinds.Definition:
		for _, v := range versions {
			r.kinds[policy.DefinedKind(v.object)] = true
		}
	case kinds.Of(kind).Effect == kinds.Authorizes:
		r.rbac = true
	default:
		r.params = append(r.params, key)
	}
}

// spread finds the policies that changed objects of other kinds reach.
func (r *reach) spread(policies, bindings []*admission.Object) {
	for _, p := range policies {
		if r.reaches(p, bindings) {
			r.policies[p.Name()] = true
		}
		if policy.SeesNamespaces(p, bindings) {
			r.spatial[p.Name()] = true
		}
	}
}

func (r *reach) reaches(p *admission.Object, bindings []*admission.Object) bool {
	if r.rbac && policy.Mentions(p, "authorizer") {
		return true
	}
	kind, ok := policy.ParamKind(p)
	if !ok {
		return false
	}
	return r.kinds[kind.GroupKind()] || slices.ContainsFunc(r.params, func(key admission.Key) bool {
		return key.Group == kind.Group && key.Kind == kind.Kind && slices.ContainsFunc(bindings, func(b *admission.Object) bool {
			return policy.BoundPolicy(b) == p.Name() && policy.MayTake(b, key)
		})
	})
}

// policiesFor names the policies that may say something else than before about an
// object that did not change; all is set when every policy may.
func (r *reach) policiesFor(key admission.Key) (names map[string]bool, all bool) {
	if r.kinds[schema.GroupKind{Group: key.Group, Kind: key.Kind}] {
		return nil, true
	}
	namespace := key.Namespace
	if key.Group == "" && key.Kind == "Namespace" {
		namespace = key.Name
	}
	if !r.namespaces[namespace] || len(r.spatial) == 0 {
		return r.policies, false
	}
	names = map[string]bool{}
	for _, set := range []map[string]bool{r.policies, r.spatial} {
		for name := range set {
			names[name] = true
		}
	}
	return names, false
}
