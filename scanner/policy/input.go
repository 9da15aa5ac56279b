package policy

import v1 "k8s.io/api/admissionregistration/v1"

// Input is what the expressions of a policy see, for who explains a decision.
// It must not be modified.
type Input struct {
	// Object, OldObject, Params, Request and Namespace are the variables object,
	// oldObject, params, request and namespaceObject; nil when null.
	Object, OldObject, Params, Request, Namespace map[string]any
	// Variables are those of the policy.
	Variables []v1.Variable
}

// input is what expressions see through the activation.
func (e *evaluation) input(a *activation) *Input {
	in := &Input{
		Object: e.version.Object, OldObject: e.version.OldObject, Params: e.params,
		Variables: e.policy.Spec.Variables,
	}
	in.Request, _ = a.request.(map[string]any)
	in.Namespace, _ = a.namespace().(map[string]any)
	return in
}
