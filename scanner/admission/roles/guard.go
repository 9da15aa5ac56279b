package roles

import (
	"context"
	"errors"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/registry/rest"
	clusterrole "k8s.io/kubernetes/pkg/registry/rbac/clusterrole/policybased"
	clusterrolebinding "k8s.io/kubernetes/pkg/registry/rbac/clusterrolebinding/policybased"
	role "k8s.io/kubernetes/pkg/registry/rbac/role/policybased"
	rolebinding "k8s.io/kubernetes/pkg/registry/rbac/rolebinding/policybased"
	"k8s.io/kubernetes/pkg/registry/rbac/validation"
)

// Escalates returns the refusal of RBAC's storage of a resource, before it validates the object: nobody may
// grant rights that they do not have. old is nil for a new object.
func (s State) Escalates(ctx context.Context, resource schema.GroupResource, obj, old runtime.Object, a authorizer.Authorizer) error {
	stored := storedRoles{State: s, requested: resource}
	rules := validation.NewDefaultRuleResolver(stored, stored, stored, stored)
	storage := guarded(resource, unstored{old: old}, a, rules)
	if storage == nil {
		return nil
	}
	var err error
	if old == nil {
		_, err = storage.Create(ctx, obj, nil, &metav1.CreateOptions{})
	} else {
		_, _, err = storage.Update(ctx, "", rest.DefaultUpdatedObjectInfo(obj), nil, nil, false, &metav1.UpdateOptions{})
	}
	var refusal apierrors.APIStatus
	if err == nil || errors.As(err, &refusal) {
		return err
	}
	return &apierrors.StatusError{ErrStatus: *responsewriters.ErrorToAPIStatus(err)}
}

// storedRoles finds roles like a storage: its error for a missing role names the resource of the
// request.
type storedRoles struct {
	State
	requested schema.GroupResource
}

// GetRole implements rbac validation's RoleGetter.
func (s storedRoles) GetRole(ctx context.Context, namespace, name string) (*rbacv1.Role, error) {
	r, err := s.State.GetRole(ctx, namespace, name)
	return r, s.named(err, name)
}

// GetClusterRole implements rbac validation's ClusterRoleGetter.
func (s storedRoles) GetClusterRole(ctx context.Context, name string) (*rbacv1.ClusterRole, error) {
	r, err := s.State.GetClusterRole(ctx, name)
	return r, s.named(err, name)
}

func (s storedRoles) named(err error, name string) error {
	if err != nil {
		return apierrors.NewNotFound(s.requested, name)
	}
	return nil
}

// creatorUpdater has the methods of a storage that are needed here.
type creatorUpdater interface {
	rest.Creater
	rest.Updater
}

// guarded returns the server's escalation check of a resource in front of a storage that stores
// nothing.
func guarded(resource schema.GroupResource, s unstored, a authorizer.Authorizer, rules validation.AuthorizationRuleResolver) creatorUpdater {
	switch resource {
	case rbacv1.Resource("roles"):
		return role.NewStorage(s, a, rules)
	case rbacv1.Resource("clusterroles"):
		return clusterrole.NewStorage(s, a, rules)
	case rbacv1.Resource("rolebindings"):
		return rolebinding.NewStorage(s, a, rules)
	case rbacv1.Resource("clusterrolebindings"):
		return clusterrolebinding.NewStorage(s, a, rules)
	}
	return nil
}

// unstored is a storage that accepts everything and stores nothing. old is the object to update.
type unstored struct {
	rest.StandardStorage
	old runtime.Object
}

// Create implements rest.Creater.
func (unstored) Create(_ context.Context, obj runtime.Object, _ rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	return obj, nil
}

// Update implements rest.Updater: it computes the new object, as every storage does.
func (u unstored) Update(ctx context.Context, _ string, info rest.UpdatedObjectInfo, _ rest.ValidateObjectFunc, _ rest.ValidateObjectUpdateFunc, _ bool, _ *metav1.UpdateOptions) (runtime.Object, bool, error) {
	obj, err := info.UpdatedObject(ctx, u.old)
	return obj, false, err
}
