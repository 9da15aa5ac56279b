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

// defaultNamespace is where objects without a namespace go.
const defaultNamespace = "default"

// resource is an entry of the server's discovery.
type resource struct {
	Name       string
	Kind       string
	Namespaced bool
}

// UnknownKindError says that the server does not serve a kind.
type UnknownKindError struct{ APIVersion, Kind string }

func (e *UnknownKindError) Error() string {
	return fmt.Sprintf("the server does not serve %s %s", e.APIVersion, e.Kind)
}

// Place is where an object is in the API.
type Place struct {
	// Collection is the path to create it at, Path its own.
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

// Discovers reports whether the server's discovery has the resource of a collection's
// path, as "/apis/apps/v1/deployments".
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

// resource finds a kind below the root of its version; nil when there is none.
// What is not there now may come with a CustomResourceDefinition, so only what is
// found is remembered, until Forget.
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

// Forget forgets what discovery said of a group, of which kinds come or go.
func (s *Server) Forget(group string) {
	for root := range s.resources {
		if strings.HasPrefix(root, "/apis/"+group+"/") {
			delete(s.resources, root)
		}
	}
}
