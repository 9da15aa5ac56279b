package builtin

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/apis/authentication"
	"k8s.io/kubernetes/pkg/apis/authorization"
	authorizationvalidation "k8s.io/kubernetes/pkg/apis/authorization/validation"
)

// Reviewed refuses reviews that make no sense, as the servers of reviews do before
// admission validates (k8s.io/kubernetes/pkg/registry/authorization, authentication).
// Reviews are answered and never stored, so no strategy knows them.
func Reviewed(obj runtime.Object) error {
	var errs field.ErrorList
	switch review := obj.(type) {
	case *authorization.SubjectAccessReview:
		errs = authorizationvalidation.ValidateSubjectAccessReview(review)
	case *authorization.SelfSubjectAccessReview:
		errs = authorizationvalidation.ValidateSelfSubjectAccessReview(review)
	case *authorization.LocalSubjectAccessReview:
		errs = authorizationvalidation.ValidateLocalSubjectAccessReview(review)
	case *authentication.TokenReview:
		if review.Spec.Token == "" {
			return apierrors.NewBadRequest("token is required for TokenReview in authentication")
		}
	}
	if len(errs) > 0 {
		// The server takes the kind from the object, which has lost it.
		return apierrors.NewInvalid(authorization.Kind(""), "", errs)
	}
	return nil
}
