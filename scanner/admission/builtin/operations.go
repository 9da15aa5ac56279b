package builtin

import (
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
)

// Operations returns the admission operations of a subresource, "" being the resource itself. There
// are none for reading; subresources that connect (exec, proxy, ...) have CONNECT whatever the verb
// (k8s.io/apiserver/pkg/endpoints, ConnectResource).
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

// Verb returns the request verb of an operation.
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

// Serves returns the server's error if a kind has no such subresource, or the subresource or the kind no such
// operation: nobody updates a TokenReview, or creates a ComponentStatus. patch is set for an object that is applied,
// which needs the verb of that name. For custom resources it is that the object is not found, or names the verb
// (k8s.io/apiextensions-apiserver, crdHandler); for built-in kinds the text is that of the server's
// clients.
func (r Resource) Serves(subresource string, operation admission.Operation, patch bool, name string) error {
	const notAllowed = "the server does not allow this method on the requested resource"
	if subresource == "" {
		if r.Assumed || slices.Contains(r.Operations(""), operation) && (!patch || r.Custom || slices.Contains(r.Verbs[""], "patch")) {
			return nil
		}
		return clientError(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, notAllowed)
	}
	if _, ok := r.Subresources[subresource]; !ok {
		if r.Custom {
			return apierrors.NewNotFound(r.GroupResource(), name)
		}
		return clientError(http.StatusNotFound, metav1.StatusReasonNotFound, "the server could not find the requested resource")
	}
	if served := r.Operations(subresource); slices.Contains(served, operation) || slices.Contains(served, admission.Connect) {
		return nil
	}
	if r.Custom {
		return apierrors.NewMethodNotSupported(r.GroupResource(), Verb(operation))
	}
	return clientError(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, notAllowed)
}

// clientError returns a refusal whose text comes from the server's clients.
func clientError(code int32, reason metav1.StatusReason, text string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: text}}
}
