package sandbox

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/admission/apply"
)

// applyPatch is the content type of server-side apply.
const applyPatch = "application/apply-patch+yaml"

// manager is the field manager for objects without a known deployer.
const manager = "preadmit-sandbox"

// place has the paths of an object in the API.
type place struct{ collection, path string }

// place returns the paths of an object, or an error if the server does not serve its kind.
func (l *Loader) place(a scanner.Applied) (place, error) {
	kind := a.Object.GroupVersionKind()
	mapping, err := l.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return place{}, err
	}
	at := place{collection: "/apis/" + kind.Group + "/" + kind.Version}
	if kind.Group == "" {
		at.collection = "/api/" + kind.Version
	}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		at.collection += "/namespaces/" + url.PathEscape(namespaceOf(a))
	}
	at.collection += "/" + mapping.Resource.Resource
	at.path = at.collection + "/" + url.PathEscape(a.Object.Name())
	return at, nil
}

// namespaceOf returns the namespace of a namespaced object.
func namespaceOf(a scanner.Applied) string {
	if a.Key.Namespace == "" {
		return metav1.NamespaceDefault
	}
	return a.Key.Namespace
}

// manifest returns the content to send for an object, as its deployer would send it.
func manifest(a scanner.Applied) (map[string]any, error) {
	content := runtime.DeepCopyJSON(a.Object.Content())
	if metadata, ok := content["metadata"].(map[string]any); ok && a.Key.Namespace != "" && a.Object.Namespace() == "" {
		metadata["namespace"] = a.Key.Namespace
	}
	switch {
	case a.Applier == "": // it may come from another server
		if metadata, ok := content["metadata"].(map[string]any); ok {
			for _, field := range []string{"managedFields", "resourceVersion", "uid"} {
				delete(metadata, field)
			}
		}
	case a.Applier == apply.Flux:
		content = apply.Normalized(content)
	case a.Applier.Merges():
		return apply.Annotated(content)
	}
	return content, nil
}

// parameters returns the query parameters of a request by a deployer.
func parameters(a scanner.Applied) url.Values {
	query := url.Values{}
	if by := a.Applier.Manager(); by != "" {
		query.Set("fieldManager", by)
	}
	if validation := a.Applier.Validation(); validation != "" {
		query.Set("fieldValidation", validation)
	}
	return query
}

// send applies an object as its deployer does. The answer's code tells whether it was created.
func (l *Loader) send(ctx context.Context, at place, a scanner.Applied) (*answer, error) {
	content, err := manifest(a)
	if err != nil {
		return nil, err
	}
	q := call{method: http.MethodPost, path: at.collection, query: parameters(a), body: content, user: a.User}
	switch {
	case a.Object.Name() == "": // the server generates a new name every time
	case a.Applier == "":
		q.user = nil
		applied(&q, at, manager, true)
	case a.Applier.ServerSide():
		applied(&q, at, a.Applier.Manager(), a.Applier.Forces())
	}
	got, err := l.do(ctx, q)
	if err != nil || q.method != http.MethodPost || !exists(got) {
		return got, err
	}
	applied(&q, at, a.Applier.Manager(), true) // it exists already
	return l.do(ctx, q)
}

func applied(q *call, at place, by string, force bool) {
	q.method, q.path, q.contentType = http.MethodPatch, at.path, applyPatch
	q.query.Set("fieldManager", by)
	q.query.Set("force", strconv.FormatBool(force))
}

// tryCreate returns the server's answer to the creation of an object, as a dry run. AlreadyExists counts
// as created: the server returns it last, only if nothing else refuses the object.
func (l *Loader) tryCreate(ctx context.Context, at place, a scanner.Applied) (*answer, error) {
	content, err := manifest(a)
	if err != nil {
		return nil, err
	}
	query := parameters(a)
	query.Set("dryRun", metav1.DryRunAll)
	got, err := l.do(ctx, call{method: http.MethodPost, path: at.collection, query: query, body: content, user: a.User})
	if err == nil && exists(got) {
		got.Code = http.StatusCreated
	}
	return got, err
}

// exists reports whether an answer is AlreadyExists.
func exists(a *answer) bool {
	return a.Code == http.StatusConflict && a.status().Reason == metav1.StatusReasonAlreadyExists
}
