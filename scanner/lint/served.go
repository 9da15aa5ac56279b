package lint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/admissionregistration/v1"

	"github.com/preadmit/preadmit/internal/levenshtein"
	"github.com/preadmit/preadmit/scanner/admission"
)

// checkUnknownResource reports resources in rules that no API group of the rule serves.
func checkUnknownResource(_ context.Context, c *cluster) {
	c.eachRule(func(o *admission.Object, at string, rule v1.Rule) {
		for i, name := range rule.Resources {
			if !c.servesResource(rule, name) {
				c.unknownResource(o, fmt.Sprintf("%s.resources[%d]", at, i), name, rule.APIGroups)
			}
		}
	})
}

// checkUnknownGroup reports API groups in rules that serve none of the resources of the rule. A
// rule is a product, so not every group has to serve every resource.
func checkUnknownGroup(_ context.Context, c *cluster) {
	c.eachRule(func(o *admission.Object, at string, rule v1.Rule) {
		for i, group := range rule.APIGroups {
			if c.servesSome(rule) && !c.serves([]string{group}, []string{"*"}, rule.Resources) {
				c.unknownGroup(o, fmt.Sprintf("%s.apiGroups[%d]", at, i), group)
			}
		}
	})
}

// checkUnservedVersion reports API versions in rules that serve none of the resources of the rule.
func checkUnservedVersion(_ context.Context, c *cluster) {
	c.eachRule(func(o *admission.Object, at string, rule v1.Rule) {
		if !c.servesSome(rule) || slices.ContainsFunc(rule.APIGroups, unknowable) {
			return
		}
		for i, version := range rule.APIVersions {
			if c.serves(rule.APIGroups, []string{version}, rule.Resources) {
				continue
			}
			c.add(remark{
				object: o, fields: []string{fmt.Sprintf("%s.apiVersions[%d]", at, i)},
				message: fmt.Sprintf("Kubernetes %s serves none of %s in version %s", admission.KubernetesVersion(), strings.Join(rule.Resources, ", "), version),
				hint:    "remove the version",
			})
		}
	})
}

// eachRule calls visit for every rule and exclusion of the linted policies and bindings.
func (c *cluster) eachRule(visit func(o *admission.Object, at string, rule v1.Rule)) {
	rules := func(o *admission.Object, at string, r *v1.MatchResources) {
		if r == nil {
			return
		}
		for i, rule := range r.ResourceRules {
			visit(o, fmt.Sprintf("%s.resourceRules[%d]", at, i), rule.Rule)
		}
		for i, rule := range r.ExcludeResourceRules {
			visit(o, fmt.Sprintf("%s.excludeResourceRules[%d]", at, i), rule.Rule)
		}
	}
	for _, p := range c.lintedPolicies() {
		rules(p.Source, "spec.matchConstraints", p.Spec.MatchConstraints)
	}
	for _, b := range c.lintedBindings() {
		rules(b.Source, "spec.matchResources", b.Spec.MatchResources)
	}
}

// servesResource reports whether some API group of a rule serves one of its resources.
func (c *cluster) servesResource(rule v1.Rule, name string) bool {
	return c.serves(rule.APIGroups, []string{"*"}, []string{name})
}

// servesSome reports whether any resource of a rule is served. If none is, the groups and versions
// of the rule cannot be checked.
func (c *cluster) servesSome(rule v1.Rule) bool {
	return slices.ContainsFunc(rule.Resources, func(name string) bool { return c.servesResource(rule, name) })
}

// serves reports whether a resource is served that matches these parts of a rule.
func (c *cluster) serves(groups, versions, resources []string) bool {
	has := func(list []string, word string) bool {
		return slices.Contains(list, "*") || slices.Contains(list, word)
	}
	return slices.ContainsFunc(c.resources, func(r admission.Resource) bool {
		return has(groups, r.Group) && has(versions, r.Version) && slices.ContainsFunc(resources, func(name string) bool { return names(name, r) })
	})
}

// names reports whether an entry of a rule's resources names a resource or a subresource of it
// (k8s.io/apiserver/pkg/admission/plugin/webhook/predicates/rules).
func names(word string, r admission.Resource) bool {
	resource, subresource, _ := strings.Cut(word, "/")
	if resource != "*" && resource != r.Resource {
		return false
	}
	_, known := r.Subresources[subresource]
	return known || subresource == "" || subresource == "*"
}

// unknownGroup adds a remark about an API group.
func (c *cluster) unknownGroup(o *admission.Object, field, group string) {
	r := remark{
		object: o, fields: []string{field},
		message: fmt.Sprintf("API group %q has none of the resources of this rule", group),
		hint:    "remove the group",
	}
	if unknowable(group) {
		r.message = fmt.Sprintf("nothing known defines a resource of this rule in API group %q", group)
		r.hint = "remove the group, or give its CustomResourceDefinitions with --context"
	}
	c.add(r)
}

// unknownResource adds a remark about a resource.
func (c *cluster) unknownResource(o *admission.Object, field, name string, groups []string) {
	r := remark{object: o, fields: []string{field}}
	suggestion := c.suggest(name, groups)
	if slices.ContainsFunc(groups, unknowable) {
		r.message = fmt.Sprintf("no resource %q is known in apiGroups %q", name, groups)
		r.hint = joinHints(suggestion, "add its CustomResourceDefinition to the repository or give it with --context")
		c.missing(r)
		return
	}
	r.message = fmt.Sprintf("Kubernetes %s serves no resource %q in apiGroups %q", admission.KubernetesVersion(), name, groups)
	r.hint = joinHints(suggestion, "correct the name")
	c.add(r)
}

// joinHints joins a suggestion and another hint.
func joinHints(suggestion, otherwise string) string {
	if suggestion == "" {
		return otherwise
	}
	if rest, ok := strings.CutPrefix(otherwise, "add "); ok {
		return suggestion + ", or add " + rest
	}
	return suggestion
}

// suggest returns a correction of a resource name: the plural of a kind, an API group, or a similar
// name; "" if there is none.
func (c *cluster) suggest(name string, groups []string) string {
	main, sub, hasSub := strings.Cut(name, "/")
	suffix := ""
	if hasSub {
		suffix = "/" + sub
	}
	inGroups := func(r admission.Resource) bool {
		return slices.Contains(groups, "*") || slices.Contains(groups, r.Group)
	}
	for _, r := range c.resources {
		word := strings.EqualFold(main, r.Kind.Kind) || strings.EqualFold(main, r.Singular) || strings.EqualFold(main, r.Resource)
		if word && inGroups(r) && r.Resource+suffix != name {
			return fmt.Sprintf("write %q: rules name resources, in plural and lower case", r.Resource+suffix)
		}
	}
	for _, r := range c.resources {
		if names(name, r) && !inGroups(r) && main != "*" {
			return fmt.Sprintf("%s is in API group %q", name, r.Group)
		}
	}
	for _, r := range c.resources {
		if inGroups(r) && len(main) > 3 && levenshtein.Distance(main, r.Resource) <= 2 && main != r.Resource {
			return fmt.Sprintf("is it %q?", r.Resource+suffix)
		}
	}
	return ""
}
