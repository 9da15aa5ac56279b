package builtin

import (
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// Serves is the server's answer when a kind has no such subresource, or one without such an
// operation: of custom resources it says that the object is not there, or names the verb
// (k8s.io/apiextensions-apiserver, crdHandler); of its own it says nothing, and its clients do.
func (r Resource) Serves(subresource string, operation admission.Operation, name string) error {
	if subresource == "" {
		return nil
	}
	if _, ok := r.Subresources[subresource]; !ok {
		if r.Custom {
			return apierrors.NewNotFound(r.GroupResource(), name)
		}
		return wordless(http.StatusNotFound, metav1.StatusReasonNotFound, "the server could not find the requested resource")
	}
	if served := r.Operations(subresource); slices.Contains(served, operation) || slices.Contains(served, admission.Connect) {
		return nil
	}
	if r.Custom {
		return apierrors.NewMethodNotSupported(r.GroupResource(), Verb(operation))
	}
	return wordless(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, "the server does not allow this method on the requested resource")
}

// wordless is a refusal without a text of the server; the text is that of its clients.
func wordless(code int32, reason metav1.StatusReason, text string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: text}}
}
