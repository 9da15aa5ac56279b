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
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/scanner/kinds"
)

const (
	// waitTimeout is how long the server may take until an object has its effect.
	waitTimeout = time.Minute
	waitEvery   = 20 * time.Millisecond
)

// lateError is the error for a condition that did not become true in time.
type lateError struct{ what string }

func (e *lateError) Error() string {
	return fmt.Sprintf("wait for %s: not within %s", e.what, waitTimeout)
}

// until waits until a condition is true.
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
			return &lateError{what}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(waitEvery):
		}
	}
}

// established waits until the kinds of the loaded definitions are served, and discovers them. It adds
// definitions whose kinds are never served to out.Unserved; their objects are refused.
func (l *Loader) established(ctx context.Context, out *Loaded) error {
	var collections []string
	var definitions []*Result
	for i := range out.Results {
		r := &out.Results[i]
		if r.Object.GroupVersionKind().GroupKind() != kinds.Definition || !r.Answer.Allowed {
			continue
		}
		served, why, err := l.served(ctx, r.Object.Name())
		switch {
		case err != nil:
			return err
		case len(served) == 0:
			out.Unserved = append(out.Unserved, r.Object.Name()+" ("+why+")")
		default:
			definitions = append(definitions, r)
			collections = append(collections, served...)
		}
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
		return err == nil && l.discovers(definitions), err
	})
}

// served returns the collections of the kind of a definition, or the reason why there are none.
func (l *Loader) served(ctx context.Context, name string) (collections []string, why string, err error) {
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
				why = "its names are not accepted: " + c.Message
				return true, nil
			case c.Type == "Established" && c.Status == metav1.ConditionTrue:
				why = "no version of it is served"
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
	return collections, why, err
}

// discovers reports whether the server's discovery has the kinds of definitions.
func (l *Loader) discovers(definitions []*Result) bool {
	return !slices.ContainsFunc(definitions, func(r *Result) bool {
		_, err := l.mapper.RESTMapping(definedKind(r))
		return err != nil
	})
}

// definedKind returns the kind that a definition defines.
func definedKind(r *Result) schema.GroupKind {
	spec, _ := r.Object.Content()["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	group, _ := spec["group"].(string)
	kind, _ := names["kind"].(string)
	return schema.GroupKind{Group: group, Kind: kind}
}

// missingNamespaces creates the Namespaces that objects are in but nothing defines, and waits until
// all needed Namespaces have the default ServiceAccount, which a controller creates.
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
		case !exists(a): // refused: its objects will be refused as well, with the reason
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
