package scanner

import (
	"github.com/preadmit/preadmit/scanner/admission"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	groupAdmission  = "admissionregistration.k8s.io"
	groupRBAC       = "rbac.authorization.k8s.io"
	groupScheduling = "scheduling.k8s.io"
)

// The kinds that decide how objects of other kinds are judged.
var (
	namespaceKind  = schema.GroupKind{Kind: "Namespace"}
	definitionKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
	policyKind     = schema.GroupKind{Group: groupAdmission, Kind: "ValidatingAdmissionPolicy"}
	bindingKind    = schema.GroupKind{Group: groupAdmission, Kind: "ValidatingAdmissionPolicyBinding"}
)

// isGoverning reports whether objects of the kind can decide how others are judged,
// besides those that policies take as params.
func isGoverning(kind schema.GroupKind) bool {
	return isPolicy(kind) || kind == namespaceKind || kind == definitionKind ||
		kind.Group == groupRBAC || kind.Group == groupScheduling
}

// isPolicy reports whether objects of the kind are policies or bindings that are
// evaluated here.
func isPolicy(kind schema.GroupKind) bool { return kind == policyKind || kind == bindingKind }

// isSimulated reports whether what objects of the kind do to a request is part of
// a verdict; for the others in the group (webhooks, mutating policies) it is not.
func isSimulated(kind schema.GroupKind) bool {
	return kind.Group != groupAdmission || isPolicy(kind)
}

// paramKinds adds the kinds that the policies among objects take as params.
func paramKinds(into map[schema.GroupKind]bool, objects []*admission.Object) {
	for _, o := range objects {
		if o.GroupVersionKind().GroupKind() != policyKind {
			continue
		}
		if kind, ok := paramKind(o); ok {
			into[kind] = true
		}
	}
}

// paramKind is the kind a policy takes as params, if it takes any.
func paramKind(policy *admission.Object) (schema.GroupKind, bool) {
	ref := child(child(policy.Content(), "spec"), "paramKind")
	kind := text(ref, "kind")
	return schema.FromAPIVersionAndKind(text(ref, "apiVersion"), kind).GroupKind(), kind != ""
}

// boundPolicy is the name of the policy a binding binds.
func boundPolicy(binding *admission.Object) string {
	return text(child(binding.Content(), "spec"), "policyName")
}

// definedKind is the kind a CustomResourceDefinition defines.
func definedKind(crd *admission.Object) schema.GroupKind {
	spec := child(crd.Content(), "spec")
	return schema.GroupKind{Group: text(spec, "group"), Kind: text(child(spec, "names"), "kind")}
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
