package lint

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/admissionregistration/v1"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
)

// checkRule reports what a rule names and no server has: resources, and groups and
// versions that have none of its resources. Rules are products: not every group
// needs every resource.
func (c *cluster) checkRule(o *admission.Object, at string, rule v1.Rule) {
	unknown := 0
	for i, name := range rule.Resources {
		if !c.serves(rule.APIGroups, []string{"*"}, []string{name}) {
			c.unknownResource(o, fmt.Sprintf("%s.resources[%d]", at, i), name, rule.APIGroups)
			unknown++
		}
	}
	if unknown == len(rule.Resources) {
		return // groups and versions mean nothing then
	}
	for i, group := range rule.APIGroups {
		if !c.serves([]string{group}, []string{"*"}, rule.Resources) {
			c.unknownGroup(o, fmt.Sprintf("%s.apiGroups[%d]", at, i), group)
		}
	}
	for i, version := range rule.APIVersions {
		if !c.serves(rule.APIGroups, []string{version}, rule.Resources) && !slices.ContainsFunc(rule.APIGroups, unknowable) {
			c.add(remark{
				rule: report.RuleUnservedVersion, object: o, fields: []string{fmt.Sprintf("%s.apiVersions[%d]", at, i)},
				message: fmt.Sprintf("Kubernetes %s serves none of %s in version %s", admission.KubernetesVersion, strings.Join(rule.Resources, ", "), version),
				hint:    "remove the version",
			})
		}
	}
}

// serves tells whether anything is served that a rule of these words names.
func (c *cluster) serves(groups, versions, resources []string) bool {
	has := func(list []string, word string) bool {
		return slices.Contains(list, "*") || slices.Contains(list, word)
	}
	return slices.ContainsFunc(c.resources, func(r admission.Resource) bool {
		return has(groups, r.Group) && has(versions, r.Version) && slices.ContainsFunc(resources, func(name string) bool { return names(name, r) })
	})
}

// names tells whether a word of a rule names a resource or a subresource of it
// (k8s.io/apiserver/pkg/admission/plugin/webhook/predicates/rules).
func names(word string, r admission.Resource) bool {
	resource, subresource, _ := strings.Cut(word, "/")
	if resource != "*" && resource != r.Resource {
		return false
	}
	_, known := r.Subresources[subresource]
	return known || subresource == "" || subresource == "*"
}

func (c *cluster) unknownGroup(o *admission.Object, field, group string) {
	r := remark{
		rule: report.RuleUnknownGroup, object: o, fields: []string{field},
		message: fmt.Sprintf("API group %q has none of the resources of this rule", group),
		hint:    "remove the group",
	}
	if unknowable(group) {
		r.message = fmt.Sprintf("nothing known defines a resource of this rule in API group %q", group)
		r.hint = "remove the group, or give its CustomResourceDefinitions with --context"
	}
	c.add(r)
}

func (c *cluster) unknownResource(o *admission.Object, field, name string, groups []string) {
	r := remark{rule: report.RuleUnknownResource, object: o, fields: []string{field}}
	suggestion := c.suggest(name, groups)
	if slices.ContainsFunc(groups, unknowable) {
		r.message = fmt.Sprintf("no resource %q is known in apiGroups %q", name, groups)
		r.hint = joinHints(suggestion, "add its CustomResourceDefinition to the repository or give it with --context")
		c.missing(r)
		return
	}
	r.message = fmt.Sprintf("Kubernetes %s serves no resource %q in apiGroups %q", admission.KubernetesVersion, name, groups)
	r.hint = joinHints(suggestion, "correct the name")
	c.add(r)
}

func joinHints(suggestion, otherwise string) string {
	if suggestion == "" {
		return otherwise
	}
	if rest, ok := strings.CutPrefix(otherwise, "add "); ok {
		return suggestion + ", or add " + rest
	}
	return suggestion
}

// suggest says what was likely meant: the plural of a kind, a group, a near name.
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
		if inGroups(r) && len(main) > 3 && distance(main, r.Resource) <= 2 && main != r.Resource {
			return fmt.Sprintf("is it %q?", r.Resource+suffix)
		}
	}
	return ""
}
