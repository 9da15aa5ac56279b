package scanner

import (
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// paramKinds adds the kinds that the policies among objects take as params.
func paramKinds(into map[schema.GroupKind]bool, objects []*admission.Object) {
	for _, o := range objects {
		if o.GroupVersionKind().GroupKind() != kinds.Policy {
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
