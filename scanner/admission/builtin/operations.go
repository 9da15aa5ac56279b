package builtin

import (
	"slices"
	"strings"

	"k8s.io/apiserver/pkg/admission"
)

// Operations are those that admission can see of a subresource, "" being the
// resource itself. Reading is never seen; what connects (exec, proxy, ...) is
// CONNECT whatever the verb (k8s.io/apiserver/pkg/endpoints, ConnectResource).
func (r Resource) Operations(subresource string) []admission.Operation {
	if strings.HasSuffix(r.Subresources[subresource].Kind, "Options") {
		return []admission.Operation{admission.Connect}
	}
	var operations []admission.Operation
	for _, o := range []admission.Operation{admission.Create, admission.Update, admission.Delete} {
		if slices.Contains(r.Verbs[subresource], Verb(o)) {
			operations = append(operations, o)
		}
	}
	return operations
}

// Verb is the verb of a request for an operation.
func Verb(o admission.Operation) string {
	switch o {
	case admission.Create:
		return "create"
	case admission.Update:
		return "update"
	case admission.Delete:
		return "delete"
	}
	return ""
}
