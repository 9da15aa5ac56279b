package policy

import (
	"context"

	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/library"

	"github.com/preadmit/preadmit/scanner/admission"
)

// authorizers provides the authorizer variables to the expressions that judge a request.
type authorizers struct {
	request *admission.Request
	answers authorizer.Authorizer
	// complete is false if the cluster may have RBAC objects that its state does not contain: then a
	// check that is not allowed may be allowed in the cluster.
	complete bool
}

// authorizer returns the variable `authorizer`. A check that is not allowed sets denied.
func (a *authorizers) authorizer(denied *bool) any {
	if a == nil {
		return nil
	}
	return library.NewAuthorizerVal(a.request.GetUserInfo(), recordingAuthorizer{a.answers, denied})
}

// requestResource returns authorizer.requestResource, which checks the request itself.
func (a *authorizers) requestResource(denied *bool) any {
	if a == nil {
		return nil
	}
	return library.NewResourceAuthorizerVal(a.request.GetUserInfo(), recordingAuthorizer{a.answers, denied}, a.request)
}

// recordingAuthorizer sets denied when a check is not allowed.
type recordingAuthorizer struct {
	authorizer.Authorizer
	denied *bool
}

// Authorize implements authorizer.Authorizer.
func (n recordingAuthorizer) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	decision, reason, err := n.Authorizer.Authorize(ctx, a)
	*n.denied = *n.denied || decision != authorizer.DecisionAllow
	return decision, reason, err
}
