package plan

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiserver "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/admission/builtin"
	"github.com/preadmit/preadmit/scanner/controllers"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy/written"
)

// judgeAnew returns the policies that have to judge objects which the change does not touch:
// policies that changed, whose bindings or params changed, or that use the authorizer if RBAC
// objects changed; and all other policies of the same names, since roots may have different
// versions. all is set if any object may have to be judged again.
func (g *governing) judgeAnew(changed []*admission.Object) (policies []*admission.Object, all bool) {
	names, bindings := map[string]bool{}, map[string]bool{}
	for _, o := range changed {
		kind := o.GroupVersionKind().GroupKind()
		switch {
		case kinds.IsPolicy(kind) && len(o.Unknown) > 0,
			kind == kinds.Namespace && slices.Contains(g.assumed, o.Name()): // the namespace of objects that name none
			return nil, true
		case kind == kinds.Policy, kind == kinds.Mutation:
			names[o.Name()] = true
		case kinds.IsBinding(kind):
			bindings[o.Name()] = true
		case kind == kinds.Definition:
			g.taking(names, o.Defined(), "")
		case kinds.Of(kind).Effect == kinds.Authorizes:
			for _, p := range g.authorizing {
				names[p.Name()] = true
			}
		}
		g.taking(names, kind, o.Name())
	}
	for _, b := range g.bindings {
		if bindings[b.Name()] {
			names[written.BoundPolicy(b)] = true
		}
	}
	for _, p := range g.policies {
		if names[p.Name()] {
			policies = append(policies, p)
		}
	}
	return policies, slices.ContainsFunc(policies, matchesAnyGroup)
}

// taking adds the names of the policies that may use an object of a kind and name as a param; an
// empty name means any object of the kind.
func (g *governing) taking(names map[string]bool, kind schema.GroupKind, param string) {
	for _, p := range g.taken[kind] {
		names[p.Name()] = names[p.Name()] || param == "" || slices.ContainsFunc(g.bound[p.Name()], func(b *admission.Object) bool {
			name, ok := written.ParamName(b)
			return ok && (name == "" || name == param || len(b.Unknown) > 0)
		})
	}
}

// matchesAnyGroup reports whether a policy may match resources of any group, whose kinds cannot be
// listed, or whether its rules are not known.
func matchesAnyGroup(p *admission.Object) bool {
	return len(p.Unknown) > 0 || slices.ContainsFunc(written.ResourceRules(p), func(rule v1.NamedRuleWithOperations) bool {
		return slices.Contains(rule.APIGroups, "*")
	})
}

// matchedBy adds the kinds of objects that policies may match, and of those from which controllers
// create such objects.
func (g *governing) matchedBy(d *dependencies, policies []*admission.Object) {
	groups, rules := map[string]bool{}, rulesOf(policies)
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			groups[group] = true
		}
	}
	for _, r := range builtin.Resources() {
		if mayMatch(rules, controllers.GeneratedBy(r.Kind.GroupKind()), r.GroupResource()) {
			d.kind(r.Kind.Kind)
		}
	}
	for group := range groups {
		switch {
		case group == "": // no CustomResourceDefinition is of it
		case !builtin.HasGroup(group):
			d.add(render.Mention{Group: group})
		default:
			d.add(render.Mention{Kind: kinds.Definition.Kind, Word: group})
		}
	}
	for _, o := range g.definitions {
		if kind := o.Defined(); groups[kind.Group] {
			d.kind(kind.Kind)
		}
	}
}

// rulesOf returns the rules of policies, each once.
func rulesOf(policies []*admission.Object) []v1.NamedRuleWithOperations {
	var rules []v1.NamedRuleWithOperations
	seen := map[string]bool{}
	for _, p := range policies {
		for _, rule := range written.ResourceRules(p) {
			if id := fmt.Sprintf("%q %q", rule.APIGroups, rule.Resources); !seen[id] {
				seen[id] = true
				rules = append(rules, rule)
			}
		}
	}
	return rules
}

// ofEachKind returns one object of each kind, since rules do not distinguish others.
func ofEachKind(objects []*admission.Object) []*admission.Object {
	var some []*admission.Object
	seen := map[schema.GroupVersionKind]bool{}
	for _, o := range objects {
		if kind := o.GroupVersionKind(); !seen[kind] {
			seen[kind] = true
			some = append(some, o)
		}
	}
	return some
}

// kindsMatched returns the kinds of those objects that the rules of policies may match, or from
// which controllers create such objects.
func (g *governing) kindsMatched(policies, objects []*admission.Object) map[schema.GroupVersionKind]bool {
	matched, rules := map[schema.GroupVersionKind]bool{}, rulesOf(policies)
	for _, o := range ofEachKind(objects) {
		kind := o.GroupVersionKind()
		r, _ := g.builtin.Resource(kind) // for other kinds, "" means any resource
		if mayMatch(rules, controllers.GeneratedBy(kind.GroupKind()), schema.GroupResource{Group: kind.Group, Resource: r.Resource}) {
			matched[kind] = true
		}
	}
	return matched
}

func mayMatch(rules []v1.NamedRuleWithOperations, generated []schema.GroupResource, r schema.GroupResource) bool {
	resources := append(slices.Clone(generated), r)
	return slices.ContainsFunc(rules, func(rule v1.NamedRuleWithOperations) bool {
		return slices.ContainsFunc(resources, func(r schema.GroupResource) bool {
			return written.RuleMayMatch(rule, r.Group, r.Resource, apiserver.Create)
		})
	})
}
