package admission

import (
	"context"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/authorization/union"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac"

	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicy"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicybinding"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicy"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicybinding"

	"github.com/preadmit/preadmit/scanner/admission/builtin"
	"github.com/preadmit/preadmit/scanner/admission/roles"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// rbacAuthorizer authorizes by the RBAC objects of the state and those that every kube-apiserver
// creates at start.
type rbacAuthorizer struct {
	authorizer.Authorizer
	state roles.State
	// known is set if the state has RBAC objects of its own, or all that exist.
	known bool
}

// Authorizer returns the authorizer of the cluster. complete is false when the cluster may have RBAC objects
// that the state does not have, so that a denial is not certain. The RBAC objects are read at the first
// check: most policies have none, and a repository may have hundreds of clusters.
func (c *Cluster) Authorizer() (a authorizer.Authorizer, complete bool) {
	return authorizer.AuthorizerFunc(func(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		return c.rbac().Authorize(ctx, a)
	}), c.KnowsRBAC()
}

// nativeAuthorizer returns the authorizer with which the registry checks that a user may create a
// policy that refers to a param. It is nil, which skips the check, if not all RBAC objects are known:
// the bindings of a GitOps controller are seldom in a repository.
func (c *Cluster) nativeAuthorizer() authorizer.Authorizer {
	if !c.KnowsRBAC() {
		return nil
	}
	a, _ := c.Authorizer()
	return a
}

// escalates returns an error if an object grants rights that the user does not have. It is nil unless
// all RBAC objects are known: without them nobody's rights are known.
func (c *Cluster) escalates(ctx context.Context, resource Resource, obj, old runtime.Object) error {
	if !c.KnowsRBAC() || resource.Group != groupRBAC {
		return nil
	}
	r := c.rbac()
	return r.state.Escalates(ctx, resource.GroupResource(), obj, old, r.Authorizer)
}

func (c *Cluster) newRBAC() *rbacAuthorizer {
	s := roles.New()
	known := c.KnowsRBAC()
	for k := range kinds.With(kinds.Authorizes) {
		for _, o := range c.list(k.GroupKind) {
			obj, err := c.Stored(o, rbacv1.SchemeGroupVersion.WithKind(k.Kind))
			if err != nil {
				continue // refused by the server, so not part of its state
			}
			known = true
			s.Add(obj)
		}
	}
	return &rbacAuthorizer{
		Authorizer: union.New(
			authorizerfactory.NewPrivilegedGroups(user.SystemPrivilegedGroup),
			rbac.New(s, s, s, s),
		),
		state: s,
		known: known,
	}
}

// Authorize returns the error of the authorization filter of an API server if the user of a client request may
// not make the request. It is nil if not all RBAC objects are known.
func (c *Cluster) Authorize(ctx context.Context, in ClientRequest) error {
	if !c.KnowsRBAC() {
		return nil
	}
	main := in.addressed()
	h, err := c.handler(main.GroupVersionKind())
	if err != nil {
		return err
	}
	a := authorizer.AttributesRecord{
		User: in.User, Verb: builtin.Verb(in.Operation), ResourceRequest: true,
		Namespace: c.requestNamespace(h.resource, main),
		APIGroup:  h.resource.Group, APIVersion: h.resource.Version,
		Resource: h.resource.Resource, Subresource: in.Subresource,
	}
	if in.Operation != admission.Create {
		a.Name = main.Name()
		if h.resource.Kind.GroupKind() == kinds.Namespace {
			a.Namespace = a.Name // the path of a Namespace contains its name
		}
	}
	decider, _ := c.Authorizer()
	decision, reason, err := decider.Authorize(ctx, a)
	if decision == authorizer.DecisionAllow {
		return nil
	}
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	return responsewriters.ForbiddenStatusError(a, reason)
}

// ErrNoRBAC is the error for a state without RBAC objects.
var ErrNoRBAC = errors.New("no RBAC objects are known")

// ParamAccess checks, as the registry does, that the author of an admission policy or a binding may
// read the params that paramKind or paramRef refers to. obj is valid and of a served version. The
// list has the server's refusals; the error is ErrNoRBAC, or a defect.
// (k8s.io/kubernetes/pkg/registry/admissionregistration, authz.go of each.)
func (c *Cluster) ParamAccess(ctx context.Context, u user.Info, obj runtime.Object) (field.ErrorList, error) {
	r := c.rbac()
	if !r.known {
		return nil, ErrNoRBAC
	}
	kinds, _, err := legacyscheme.Scheme.ObjectKinds(obj)
	if err != nil {
		return nil, fmt.Errorf("check access to params: %w", err)
	}
	hub := schema.GroupVersion{Group: kinds[0].Group, Version: runtime.APIVersionInternal}
	internal, err := legacyscheme.Scheme.ConvertToVersion(obj, hub)
	if err != nil {
		return nil, fmt.Errorf("check access to params: %w", err)
	}
	served, _ := builtin.AnyVersion(kinds[0].GroupKind())
	ctx = request.WithRequestInfo(request.WithUser(ctx, u), &request.RequestInfo{
		IsResourceRequest: true, Verb: "create", APIGroup: served.Group, APIVersion: served.Version, Resource: served.Resource,
	})
	switch kinds[0].Kind {
	case "ValidatingAdmissionPolicy":
		return validatingadmissionpolicy.NewStrategy(r.Authorizer, c).Validate(ctx, internal), nil
	case "MutatingAdmissionPolicy":
		return mutatingadmissionpolicy.NewStrategy(r.Authorizer, c).Validate(ctx, internal), nil
	case "MutatingAdmissionPolicyBinding":
		return mutatingadmissionpolicybinding.NewStrategy(r.Authorizer, c, c).Validate(ctx, internal), nil
	}
	return validatingadmissionpolicybinding.NewStrategy(r.Authorizer, c, c).Validate(ctx, internal), nil
}
