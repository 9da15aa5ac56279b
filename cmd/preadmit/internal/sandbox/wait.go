package sandbox

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preadmit/preadmit/scanner/kinds"
)

const (
	// waitTimeout is how long the server may take until what it was given has its effect.
	waitTimeout = time.Minute
	waitEvery   = 20 * time.Millisecond
)

// until waits until a condition holds.
func until(ctx context.Context, what string, holds func(context.Context) (bool, error)) error {
	deadline := time.Now().Add(waitTimeout)
	for {
		ok, err := holds(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return fmt.Errorf("wait for %s: %w", what, err)
		case ok:
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("wait for %s: not within %s", what, waitTimeout)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(waitEvery):
		}
	}
}

// established waits until the kinds of the definitions that were loaded are served, and learns them.
// Of a definition that the server does not establish, the objects are refused.
func (l *Loader) established(ctx context.Context, out *Loaded) error {
	var collections []string
	for i := range out.Results {
		r := &out.Results[i]
		if r.Object.GroupVersionKind().GroupKind() != kinds.Definition || !r.Answer.Allowed {
			continue
		}
		served, err := l.served(ctx, r.Object.Name())
		if err != nil {
			return err
		}
		collections = append(collections, served...)
	}
	for _, path := range collections {
		err := until(ctx, path+" to be served", func(ctx context.Context) (bool, error) {
			a, err := l.client.do(ctx, call{method: http.MethodGet, path: path, query: url.Values{"limit": {"1"}}})
			return err == nil && a.ok(), err
		})
		if err != nil {
			return err
		}
	}
	if len(collections) == 0 {
		return nil
	}
	return until(ctx, "the definitions to be discovered", func(context.Context) (bool, error) {
		err := l.discover()
		return err == nil && l.discovers(out), err
	})
}

// served returns the collections of the kind of a definition, none if its names are not accepted.
func (l *Loader) served(ctx context.Context, name string) (collections []string, err error) {
	err = until(ctx, name+" to be established", func(ctx context.Context) (bool, error) {
		var definition struct {
			Spec struct {
				Group    string
				Names    struct{ Plural string }
				Versions []struct {
					Name   string
					Served bool
				}
			}
			Status struct{ Conditions []metav1.Condition }
		}
		err := l.client.get(ctx, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+url.PathEscape(name), &definition)
		if err != nil {
			return false, err
		}
		for _, c := range definition.Status.Conditions {
			switch {
			case c.Type == "NamesAccepted" && c.Status == metav1.ConditionFalse:
				return true, nil
			case c.Type == "Established" && c.Status == metav1.ConditionTrue:
				for _, v := range definition.Spec.Versions {
					if v.Served {
						collections = append(collections, "/apis/"+definition.Spec.Group+"/"+v.Name+"/"+definition.Spec.Names.Plural)
					}
				}
				return true, nil
			}
		}
		return false, nil
	})
	return collections, err
}

// discovers reports whether the server's discovery has the kinds of all definitions that it serves.
func (l *Loader) discovers(out *Loaded) bool {
	for i := range out.Results {
		r := &out.Results[i]
		if r.Object.GroupVersionKind().GroupKind() != kinds.Definition || !r.Answer.Allowed {
			continue
		}
		spec, _ := r.Object.Content()["spec"].(map[string]any)
		names, _ := spec["names"].(map[string]any)
		group, _ := spec["group"].(string)
		kind, _ := names["kind"].(string)
		if _, err := l.mapper.RESTMapping(groupKind(group, kind)); err != nil {
			return false
		}
	}
	return true
}

// missingNamespaces makes the Namespaces that objects are in and nothing defines, and waits until
// all have what controllers give them.
func (l *Loader) missingNamespaces(ctx context.Context, out *Loaded) ([]string, error) {
	needed, made := map[string]bool{}, []string{}
	for i := range out.Results {
		r := &out.Results[i]
		if r.Key.Namespace != "" {
			needed[r.Key.Namespace] = true
		}
		if r.Object.GroupVersionKind().GroupKind() == kinds.Namespace && r.Answer.Allowed {
			needed[r.Object.Name()] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(needed)) {
		body := map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}
		a, err := l.client.do(ctx, call{method: http.MethodPost, path: "/api/v1/namespaces", body: body})
		switch {
		case err != nil:
			return nil, err
		case a.ok():
			made = append(made, name)
		case !exists(a): // and objects in it are refused, with the reason
			continue
		}
		account := "/api/v1/namespaces/" + url.PathEscape(name) + "/serviceaccounts/default"
		err = until(ctx, "the default ServiceAccount of namespace "+name, func(ctx context.Context) (bool, error) {
			a, err := l.client.do(ctx, call{method: http.MethodGet, path: account})
			return err == nil && a.ok(), err
		})
		if err != nil {
			return nil, err
		}
	}
	return made, nil
}
