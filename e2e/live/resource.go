package live

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/scanner/admission"
)

// defaultNamespace is the namespace of objects that do not name one.
const defaultNamespace = "default"

// resource is an entry of the server's discovery.
type resource struct {
	Name       string
	Kind       string
	Namespaced bool
}

// UnknownKindError is the error for a kind that the server does not serve.
type UnknownKindError struct{ APIVersion, Kind string }

func (e *UnknownKindError) Error() string {
	return fmt.Sprintf("the server does not serve %s %s", e.APIVersion, e.Kind)
}

// Place has the paths of an object in the API.
type Place struct {
	// Collection is the path to create the object at, Path that of the object.
	Collection, Path string
	Namespaced       bool
}

// Place looks up the resource of an object. The error is an *UnknownKindError when
// the server does not serve it.
func (s *Server) Place(ctx context.Context, o *admission.Object) (Place, error) {
	gvk := o.GroupVersionKind()
	root := "/apis/" + gvk.GroupVersion().String()
	if gvk.Group == "" {
		root = "/api/" + gvk.Version
	}
	r, err := s.resource(ctx, root, gvk.Kind)
	if err != nil {
		return Place{}, err
	}
	if r == nil {
		return Place{}, &UnknownKindError{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind}
	}
	p := Place{Collection: root, Namespaced: r.Namespaced}
	if r.Namespaced {
		namespace := o.Namespace()
		if namespace == "" {
			namespace = defaultNamespace
		}
		p.Collection += "/namespaces/" + namespace
	}
	p.Collection += "/" + r.Name
	p.Path = p.Collection + "/" + o.Name()
	return p, nil
}

// Discovers reports whether the server's discovery has the resource with a collection path
// like "/apis/apps/v1/deployments".
func (s *Server) Discovers(ctx context.Context, collection string) (bool, error) {
	root, name := path.Split(collection)
	root = strings.TrimSuffix(root, "/")
	all, err := s.discover(ctx, root)
	return slices.ContainsFunc(all, func(r resource) bool { return r.Name == name }), err
}

// discover lists the resources below the root of a version.
func (s *Server) discover(ctx context.Context, root string) ([]resource, error) {
	a, err := s.Do(ctx, Call{Method: http.MethodGet, Path: root})
	if err != nil || a.Code == http.StatusNotFound {
		return nil, err
	}
	var list struct{ Resources []resource }
	if err := decode(a, &list); err != nil {
		return nil, fmt.Errorf("list the resources of %s: %w", root, err)
	}
	return list.Resources, nil
}

// resource returns the resource of a kind below the root of its version, nil if there is
// none. It repeats discovery for a missing kind, which a CustomResourceDefinition may have
// added since.
func (s *Server) resource(ctx context.Context, root, kind string) (*resource, error) {
	find := func() *resource {
		all := s.resources[root]
		i := slices.IndexFunc(all, func(r resource) bool { return r.Kind == kind && !strings.Contains(r.Name, "/") })
		if i < 0 {
			return nil
		}
		return &all[i]
	}
	if r := find(); r != nil {
		return r, nil
	}
	all, err := s.discover(ctx, root)
	if err != nil {
		return nil, err
	}
	s.resources[root] = all
	return find(), nil
}

// Forget removes the cached discovery of a group whose kinds change.
func (s *Server) Forget(group string) {
	for root := range s.resources {
		if strings.HasPrefix(root, "/apis/"+group+"/") {
			delete(s.resources, root)
		}
	}
}
