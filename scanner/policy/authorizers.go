package policy

import (
	"context"

	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/library"

	"github.com/preadmit/preadmit/scanner/admission"
)

// authorizers answers the authorizer checks of the expressions about a request.
type authorizers struct {
	request *admission.Request
	answers authorizer.Authorizer
	// complete is false where there may be RBAC objects that the cluster state does not have: then
	// what it does not allow may be allowed all the same.
	complete bool
}

// authorizer is the variable of that name. denied is set by a check that is not allowed.
func (a *authorizers) authorizer(denied *bool) any {
	if a == nil {
		return nil
	}
	return library.NewAuthorizerVal(a.request.GetUserInfo(), noting{a.answers, denied})
}

// requestResource is authorizer.requestResource: the check of the request itself.
func (a *authorizers) requestResource(denied *bool) any {
	if a == nil {
		return nil
	}
	return library.NewResourceAuthorizerVal(a.request.GetUserInfo(), noting{a.answers, denied}, a.request)
}

// noting notes that a check is not allowed.
type noting struct {
	authorizer.Authorizer
	denied *bool
}

// Authorize implements authorizer.Authorizer.
func (n noting) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	decision, reason, err := n.Authorizer.Authorize(ctx, a)
	*n.denied = *n.denied || decision != authorizer.DecisionAllow
	return decision, reason, err
}
