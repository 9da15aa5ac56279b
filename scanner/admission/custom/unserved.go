package custom

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/scanner/admission/builtin"
)

// UnknownKindError is the error for a kind that the state does not define or serve.
type UnknownKindError struct {
	Kind schema.GroupVersionKind
	// Builtin is set when the API group is Kubernetes' own but this version or kind is not served.
	Builtin bool
	// Definition is the name of the CustomResourceDefinition of the kind, which serves Versions but not this
	// one.
	Definition string
	Versions   []string
}

// Refusal returns the error of clients about a version that the server does not serve of a kind that is built
// in or defined, with a replacement; nil for other kinds.
func (e *UnknownKindError) Refusal() *apierrors.StatusError {
	if !e.Builtin && (e.Definition == "" || slices.Contains(e.Versions, e.Kind.Version)) {
		return nil
	}
	message := fmt.Sprintf("no matches for kind %q in version %q", e.Kind.Kind, e.Kind.GroupVersion())
	if why := builtin.Unserved(e.Kind); e.Builtin && why != "" {
		message += ": " + why
	}
	if !e.Builtin {
		message += ": " + e.serves()
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound, Message: message,
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Field: "apiVersion"}}},
	}}
}

func (e *UnknownKindError) Error() string {
	gv := e.Kind.GroupVersion()
	if e.Builtin {
		hint := builtin.Unserved(e.Kind)
		if hint == "" {
			hint = "use a version it serves"
		}
		return fmt.Sprintf("Kubernetes %s does not serve %s %s; %s", builtin.KubernetesVersion(), gv, e.Kind.Kind, hint)
	}
	if e.Definition != "" {
		return fmt.Sprintf("%s %s is not served: %s", gv, e.Kind.Kind, e.serves())
	}
	return fmt.Sprintf("no CustomResourceDefinition defines %s %s; add it to the repository or give it with --context", gv, e.Kind.Kind)
}

// serves describes the versions that the definition of the kind serves.
func (e *UnknownKindError) serves() string {
	versions := "no version"
	if len(e.Versions) > 0 {
		versions = strings.Join(e.Versions, ", ")
	}
	return fmt.Sprintf("CustomResourceDefinition %s serves %s", e.Definition, versions)
}
