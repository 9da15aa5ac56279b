package policy

import (
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/library"

	"github.com/preadmit/preadmit/scanner/admission"
)

// authorizers answers the authorizer checks of the expressions about a request.
type authorizers struct {
	request *admission.Request
	answers authorizer.Authorizer
	// known is false when the cluster state has no RBAC objects to answer from.
	known bool
}

// authorizer is the variable of that name.
func (a *authorizers) authorizer() any {
	if a == nil {
		return nil
	}
	return library.NewAuthorizerVal(a.request.GetUserInfo(), a.answers)
}

// requestResource is authorizer.requestResource: the check of the request itself.
func (a *authorizers) requestResource() any {
	if a == nil {
		return nil
	}
	return library.NewResourceAuthorizerVal(a.request.GetUserInfo(), a.answers, a.request)
}
