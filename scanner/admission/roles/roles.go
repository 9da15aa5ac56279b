// Package roles has the RBAC objects of a state for Kubernetes' authorizer, including those that
// every kube-apiserver creates at start.
package roles

import (
	"context"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
)

// State has RBAC objects for Kubernetes' authorizer.
type State struct {
	clusterRoles        []rbacv1.ClusterRole
	clusterRoleBindings []rbacv1.ClusterRoleBinding
	roles               map[string][]rbacv1.Role
	roleBindings        map[string][]rbacv1.RoleBinding
}

// Add adds an object.
func (s *State) Add(obj runtime.Object) {
	switch o := obj.(type) {
	case *rbacv1.ClusterRole:
		s.clusterRoles = append(s.clusterRoles, *o)
	case *rbacv1.ClusterRoleBinding:
		s.clusterRoleBindings = append(s.clusterRoleBindings, *o)
	case *rbacv1.Role:
		s.roles[o.Namespace] = append(s.roles[o.Namespace], *o)
	case *rbacv1.RoleBinding:
		s.roleBindings[o.Namespace] = append(s.roleBindings[o.Namespace], *o)
	}
}

// GetRole implements rbac validation's RoleGetter, with the error of a lister.
func (s State) GetRole(_ context.Context, namespace, name string) (*rbacv1.Role, error) {
	for i := range s.roles[namespace] {
		if r := &s.roles[namespace][i]; r.Name == name {
			return r, nil
		}
	}
	return nil, apierrors.NewNotFound(rbacv1.Resource("role"), name)
}

// ListRoleBindings implements RoleBindingLister.
func (s State) ListRoleBindings(_ context.Context, namespace string) ([]*rbacv1.RoleBinding, error) {
	return pointers(s.roleBindings[namespace]), nil
}

// GetClusterRole implements ClusterRoleGetter. A role of the state precedes the server's own of the
// same name.
func (s State) GetClusterRole(_ context.Context, name string) (*rbacv1.ClusterRole, error) {
	for i := len(s.clusterRoles) - 1; i >= 0; i-- {
		if r := &s.clusterRoles[i]; r.Name == name {
			return r, nil
		}
	}
	return nil, apierrors.NewNotFound(rbacv1.Resource("clusterrole"), name)
}

// ListClusterRoleBindings implements ClusterRoleBindingLister.
func (s State) ListClusterRoleBindings(context.Context) ([]*rbacv1.ClusterRoleBinding, error) {
	return pointers(s.clusterRoleBindings), nil
}

func pointers[T any](list []T) []*T {
	out := make([]*T, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// New returns the objects of a new server.
func New() State {
	s := State{
		clusterRoles:        bootstrappolicy.ClusterRoles(),
		clusterRoleBindings: bootstrappolicy.ClusterRoleBindings(),
		roles:               map[string][]rbacv1.Role{},
		roleBindings:        map[string][]rbacv1.RoleBinding{},
	}
	for namespace, roles := range bootstrappolicy.NamespaceRoles() {
		s.roles[namespace] = append(s.roles[namespace], roles...)
	}
	for namespace, bindings := range bootstrappolicy.NamespaceRoleBindings() {
		s.roleBindings[namespace] = append(s.roleBindings[namespace], bindings...)
	}
	return s
}
