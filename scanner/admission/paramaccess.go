package admission

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicy"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicybinding"

	"github.com/preadmit/preadmit/scanner/admission/builtin"
)

// ErrNoRBAC says that the state has no RBAC objects that could answer.
var ErrNoRBAC = errors.New("no RBAC objects are known")

// ParamAccess asks what the registry asks of the author of a
// ValidatingAdmissionPolicy or a binding, given in a served version and valid: may
// the user read what paramKind or paramRef refers to? Refusals are the server's
// own; an error is ErrNoRBAC, or a defect.
// (k8s.io/kubernetes/pkg/registry/admissionregistration, authz.go of both.)
func (c *Cluster) ParamAccess(ctx context.Context, u user.Info, obj runtime.Object) (field.ErrorList, error) {
	a, known := c.Authorizer()
	if !known {
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
	r, _ := builtin.AnyVersion(kinds[0].GroupKind())
	ctx = request.WithRequestInfo(request.WithUser(ctx, u), &request.RequestInfo{
		IsResourceRequest: true, Verb: "create", APIGroup: r.Group, APIVersion: r.Version, Resource: r.Resource,
	})
	if kinds[0].Kind == "ValidatingAdmissionPolicy" {
		return validatingadmissionpolicy.NewStrategy(a, c).Validate(ctx, internal), nil
	}
	return validatingadmissionpolicybinding.NewStrategy(a, c, c).Validate(ctx, internal), nil
}
