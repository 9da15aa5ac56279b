package refusal

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Panicked turns a panic into the response of an API server, which refuses the request and continues
// (k8s.io/apiserver/pkg/server/filters/wrap.go). Some content makes Kubernetes' code panic, such as
// {?'a': object.x} in an expression, which cel-go's check of literals treats as an optional. It must
// be deferred.
func Panicked(err *error) {
	cause := recover()
	if cause == nil {
		return
	}
	*err = &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusInternalServerError,
		Reason:  metav1.StatusReasonInternalError,
		Message: "This request caused apiserver to panic. Look in the logs for details.",
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Message: fmt.Sprint(cause)}}},
	}}
}
