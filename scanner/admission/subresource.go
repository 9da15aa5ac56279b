package admission

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// serves is the server's answer when a kind has no such subresource: of custom
// resources it says that the object is not there (k8s.io/apiextensions-apiserver,
// crdHandler), of its own that there is no such resource.
func (h *handler) serves(subresource, name string) error {
	if _, ok := h.resource.Subresources[subresource]; ok || subresource == "" {
		return nil
	}
	if h.resource.Custom {
		return apierrors.NewNotFound(h.resource.GroupResource(), name)
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
		Message: "the server could not find the requested resource",
	}}
}

// names refuses a Scale that is of another version or name than the path it is sent
// to (k8s.io/apiserver/pkg/endpoints/handlers, UpdateResource and checkName).
func (p *preparation) names(name string) error {
	sent := p.ask.Object.GroupVersionKind().GroupVersion()
	switch {
	case sent != scaleKind.GroupVersion():
		return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", sent, scaleKind.GroupVersion()))
	case name == "":
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", p.name))
	case name != p.name:
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", name, p.name))
	}
	return nil
}
