package builtin

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/apis/authentication"
	"k8s.io/kubernetes/pkg/apis/authorization"
	authorizationvalidation "k8s.io/kubernetes/pkg/apis/authorization/validation"
)

// Reviewed returns the errors of invalid reviews, as the servers of reviews do before validating
// admission (k8s.io/kubernetes/pkg/registry/authorization, authentication). Reviews are never stored,
// so they have no strategy.
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
		// The server uses the kind of the object, which is empty.
		return apierrors.NewInvalid(authorization.Kind(""), "", errs)
	}
	return nil
}
