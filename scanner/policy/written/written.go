// Package written reads policies and bindings from their objects, before a server accepts them: the kinds of
// params, the bound policy, the resources that a policy may match.
package written

import (
	"encoding/json"
	"slices"
	"strings"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiserver "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// ParamKinds adds the kinds that the policies among objects take as params.
func ParamKinds(into map[schema.GroupKind]bool, objects []*admission.Object) {
	for _, o := range objects {
		if kind := o.GroupVersionKind().GroupKind(); kind != kinds.Policy && kind != kinds.Mutation {
			continue
		}
		if kind, ok := ParamKind(o); ok {
			into[kind.GroupKind()] = true
		}
	}
}

// ParamKind returns the kind that a policy takes as params; ok is false when it takes none.
func ParamKind(p *admission.Object) (kind schema.GroupVersionKind, ok bool) {
	ref := child(child(p.Content(), "spec"), "paramKind")
	kind = schema.FromAPIVersionAndKind(text(ref, "apiVersion"), text(ref, "kind"))
	return kind, kind.Kind != ""
}

// ParamName returns the name of the object that a binding takes as the param, "" when it selects
// params by labels; ok is false when it takes none.
func ParamName(binding *admission.Object) (name string, ok bool) {
	ref := child(child(binding.Content(), "spec"), "paramRef")
	return text(ref, "name"), ref != nil
}

// BoundPolicy returns the name of the policy that a binding binds.
func BoundPolicy(binding *admission.Object) string {
	return text(child(binding.Content(), "spec"), "policyName")
}

// MayTake reports whether a binding may take the object of key as its param. A selector may select
// any.
func MayTake(binding *admission.Object, key admission.Key) bool {
	ref := child(child(binding.Content(), "spec"), "paramRef")
	name, namespace := text(ref, "name"), text(ref, "namespace")
	return ref != nil && (name == "" || name == key.Name) && (namespace == "" || namespace == key.Namespace)
}

// ByPolicy groups bindings by the policy that they bind.
func ByPolicy(bindings []*admission.Object) map[string][]*admission.Object {
	by := map[string][]*admission.Object{}
	for _, b := range bindings {
		by[BoundPolicy(b)] = append(by[BoundPolicy(b)], b)
	}
	return by
}

// SeesNamespaces reports whether the decisions of a policy depend on labels or annotations of
// namespaces. The bindings are those of the policy.
func SeesNamespaces(p *admission.Object, bindings []*admission.Object) bool {
	spec := child(p.Content(), "spec")
	if len(child(child(spec, "matchConstraints"), "namespaceSelector")) > 0 || Mentions(p, "namespaceObject") {
		return true
	}
	return slices.ContainsFunc(bindings, func(b *admission.Object) bool {
		resources := child(child(b.Content(), "spec"), "matchResources")
		return len(child(resources, "namespaceSelector")) > 0
	})
}

// Mentions reports whether an object's text contains a word.
func Mentions(o *admission.Object, word string) bool {
	// Content comes from JSON, so it marshals.
	data, _ := json.Marshal(o.Content())
	return strings.Contains(string(data), word)
}

// ReadsUser reports whether an expression of a policy may read who makes a request, or what that user may do.
func ReadsUser(p *admission.Object) bool {
	return Mentions(p, "userInfo") || Mentions(p, "authorizer")
}

// ResourceRules returns the rules of a policy, as if they were for all operations.
func ResourceRules(p *admission.Object) []v1.NamedRuleWithOperations {
	var rules []v1.NamedRuleWithOperations
	list, _ := child(child(p.Content(), "spec"), "matchConstraints")["resourceRules"].([]any)
	for _, item := range list {
		rule, _ := item.(map[string]any)
		r := v1.NamedRuleWithOperations{}
		r.Operations = []v1.OperationType{v1.OperationAll}
		r.APIGroups, r.Resources = stringsOf(rule["apiGroups"]), stringsOf(rule["resources"])
		rules = append(rules, r)
	}
	return rules
}

// RuleMayMatch reports whether a rule may match requests for a resource, "" for an unknown one, and
// not only those for its subresources. It ignores versions.
func RuleMayMatch(rule v1.NamedRuleWithOperations, group, resource string, op apiserver.Operation) bool {
	return slices.ContainsFunc(rule.Operations, func(o v1.OperationType) bool { return o == v1.OperationAll || string(o) == string(op) }) &&
		slices.ContainsFunc(rule.APIGroups, func(g string) bool { return g == "*" || g == group || equivalentGroups(g, group) }) &&
		slices.ContainsFunc(rule.Resources, func(r string) bool {
			name, subresource, _ := strings.Cut(r, "/")
			return (subresource == "" || subresource == "*") && (resource == "" || name == "*" || name == resource)
		})
}

// equivalentGroups reports whether one resource is served in both groups, so that a rule for one
// matches requests of the other. Only events are.
func equivalentGroups(a, b string) bool {
	const events = "events.k8s.io"
	return a == "" && b == events || a == events && b == ""
}

// child returns a field that is an object, nil when it is absent or is not one.
func child(m map[string]any, field string) map[string]any {
	c, _ := m[field].(map[string]any)
	return c
}

// text returns a field that is a string, "" when it is absent or is not one.
func text(m map[string]any, field string) string {
	s, _ := m[field].(string)
	return s
}

// stringsOf returns the strings in a list.
func stringsOf(value any) []string {
	var all []string
	list, _ := value.([]any)
	for _, item := range list {
		s, _ := item.(string)
		all = append(all, s)
	}
	return all
}
