package replay

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/preadmit/preadmit/e2e/live"
	"github.com/preadmit/preadmit/scanner/admission"
)

const (
	crdKind       = "CustomResourceDefinition"
	namespaceKind = "Namespace"
	quotaKind     = "ResourceQuota"
)

// settleTimeout bounds the wait for what the server does in the background: deleting
// custom resources along with their definition, and establishing a definition.
const settleTimeout = 60 * time.Second

// changes creates objects in a cluster, and undoes its changes in reverse order.
type changes struct {
	cluster *live.Cluster
	undo    []func(context.Context) error
}

// put creates an object, or replaces an existing one. It returns a *RefusedError if the
// server refuses the object.
func (c *changes) put(ctx context.Context, o *admission.Object) error {
	c.forget(o)
	place, err := c.cluster.Setup.Place(ctx, o)
	if err != nil {
		return err
	}
	a, err := c.send(ctx, http.MethodPost, place.Collection, o.Content())
	if err != nil {
		return err
	}
	if a.Code == http.StatusConflict && a.Status().Reason == "AlreadyExists" {
		return c.replace(ctx, o, place)
	}
	if !a.OK() {
		return &RefusedError{Object: o, Message: a.Status().Message}
	}
	c.undo = append(c.undo, func(ctx context.Context) error { return c.remove(ctx, o, place) })
	if o.GroupVersionKind().Kind == quotaKind { // needs its status, which no controller writes here and creation ignores
		if err := c.overwrite(ctx, place.Path+"/status", o.Content()); err != nil {
			return fmt.Errorf("write the status of %s %s: %w", quotaKind, o.Name(), err)
		}
	}
	return c.served(ctx, o)
}

// RefusedError is returned when the server refuses an object of a suite's state.
type RefusedError struct {
	Object  *admission.Object
	Message string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the server refuses %s %s: %s", e.Object.GroupVersionKind().Kind, e.Object.Name(), e.Message)
}

// send sends an object of the state. The server ignores unknown fields.
func (c *changes) send(ctx context.Context, method, path string, content any) (*live.Answer, error) {
	query := url.Values{"fieldValidation": {"Ignore"}}
	return c.cluster.Setup.Do(ctx, live.Call{Method: method, Path: path, Query: query, Body: content})
}

// replace replaces an existing object, such as the namespace default. Undoing it restores
// the old object.
func (c *changes) replace(ctx context.Context, o *admission.Object, place live.Place) error {
	before, err := get(ctx, c.cluster.Setup, place.Path)
	if err != nil {
		return err
	}
	if err := c.overwrite(ctx, place.Path, o.Content()); err != nil {
		return fmt.Errorf("replace %s %s: %w", o.GroupVersionKind().Kind, o.Name(), err)
	}
	c.undo = append(c.undo, func(ctx context.Context) error { return c.overwrite(ctx, place.Path, before) })
	return nil
}

// get reads an object.
func get(ctx context.Context, s *live.Server, path string) (map[string]any, error) {
	a, err := s.Do(ctx, live.Call{Method: http.MethodGet, Path: path})
	if err != nil {
		return nil, err
	}
	if err := a.Err(); err != nil {
		return nil, err
	}
	return a.Object()
}

// overwrite replaces an object, whatever its current resourceVersion is.
func (c *changes) overwrite(ctx context.Context, path string, content map[string]any) error {
	now, err := get(ctx, c.cluster.Setup, path)
	if err != nil {
		return err
	}
	a, err := c.send(ctx, http.MethodPut, path, withResourceVersion(content, now))
	if err != nil {
		return err
	}
	return a.Err()
}

// withResourceVersion returns content with the resourceVersion of now: some kinds cannot
// be updated without one.
func withResourceVersion(content, now map[string]any) map[string]any {
	copied := map[string]any{}
	for key, value := range content {
		copied[key] = value
	}
	metadata := map[string]any{}
	if m, ok := content["metadata"].(map[string]any); ok {
		for key, value := range m {
			metadata[key] = value
		}
	}
	metadata["resourceVersion"] = now["metadata"].(map[string]any)["resourceVersion"]
	copied["metadata"] = metadata
	return copied
}

// revert undoes all changes, as far as possible.
func (c *changes) revert(ctx context.Context) error {
	var errs []error
	for len(c.undo) > 0 {
		last := c.undo[len(c.undo)-1]
		c.undo = c.undo[:len(c.undo)-1]
		if err := last(ctx); err != nil {
			errs = append(errs, fmt.Errorf("revert the state: %w", err))
		}
	}
	return errors.Join(errs...)
}

// remove deletes an object. It also removes finalizers, since no controllers run.
func (c *changes) remove(ctx context.Context, o *admission.Object, place live.Place) error {
	query := url.Values{"gracePeriodSeconds": {"0"}, "propagationPolicy": {"Background"}}
	a, err := c.cluster.Setup.Do(ctx, live.Call{Method: http.MethodDelete, Path: place.Path, Query: query})
	if err != nil {
		return err
	}
	if !a.OK() && a.Code != http.StatusNotFound && a.Code != http.StatusConflict {
		return fmt.Errorf("delete %s %s: %w", o.GroupVersionKind().Kind, o.Name(), a.Err())
	}
	defer c.forget(o)
	return poll(ctx, fmt.Sprintf("%s %s to be gone", o.GroupVersionKind().Kind, o.Name()), func() (bool, error) {
		a, err := c.cluster.Setup.Do(ctx, live.Call{Method: http.MethodGet, Path: place.Path})
		if err != nil || a.Code == http.StatusNotFound {
			return err == nil, err
		}
		return false, c.release(ctx, o, place)
	})
}

// release removes the finalizers of an object. The API server itself removes that of a
// CustomResourceDefinition.
func (c *changes) release(ctx context.Context, o *admission.Object, place live.Place) error {
	switch o.GroupVersionKind().Kind {
	case crdKind:
		return nil
	case namespaceKind:
		_, err := c.send(ctx, http.MethodPut, place.Path+"/finalize", map[string]any{
			"apiVersion": "v1", "kind": namespaceKind,
			"metadata": map[string]any{"name": o.Name()}, "spec": map[string]any{"finalizers": []any{}},
		})
		return err
	}
	_, err := c.cluster.Setup.Do(ctx, live.Call{
		Method: http.MethodPatch, Path: place.Path, ContentType: "application/merge-patch+json",
		Body: map[string]any{"metadata": map[string]any{"finalizers": nil}},
	})
	return err
}

// served waits until both servers serve the kinds of a definition.
func (c *changes) served(ctx context.Context, o *admission.Object) error {
	if o.GroupVersionKind().Kind != crdKind {
		return nil
	}
	for _, path := range definedPaths(o) {
		for _, s := range []*live.Server{c.cluster.Setup, c.cluster.Tested} {
			err := poll(ctx, path+" to be served", func() (bool, error) {
				a, err := s.Do(ctx, live.Call{Method: http.MethodGet, Path: path})
				if err != nil || !a.OK() {
					return false, err
				}
				return s.Discovers(ctx, path) // discovery is updated later
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// definedPaths returns the paths of the served versions of a definition.
func definedPaths(o *admission.Object) []string {
	spec, _ := o.Content()["spec"].(map[string]any)
	group, _ := spec["group"].(string)
	names, _ := spec["names"].(map[string]any)
	plural, _ := names["plural"].(string)
	versions, _ := spec["versions"].([]any)
	var paths []string
	for _, v := range versions {
		version, _ := v.(map[string]any)
		if name, _ := version["name"].(string); version["served"] == true {
			paths = append(paths, "/apis/"+group+"/"+name+"/"+plural)
		}
	}
	return paths
}

// forget makes the clients of both servers discover the group of a definition again.
func (c *changes) forget(o *admission.Object) {
	if o.GroupVersionKind().Kind != crdKind {
		return
	}
	spec, _ := o.Content()["spec"].(map[string]any)
	group, _ := spec["group"].(string)
	c.cluster.Setup.Forget(group)
	c.cluster.Tested.Forget(group)
}

// poll calls done until it returns true.
func poll(ctx context.Context, what string, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	for {
		ok, err := done()
		if ok {
			return nil
		}
		if err != nil {
			return fmt.Errorf("wait for %s: %w", what, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}
