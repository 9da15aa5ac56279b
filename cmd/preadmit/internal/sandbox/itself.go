package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/scanner/policy"
)

// refusesItself reports whether the server refuses to create an existing object of a kind because of
// what that object itself holds, instead of with AlreadyExists: a second default PriorityClass, or a
// second Service with the same node port or address.
func refusesItself(kind schema.GroupKind) bool {
	return kind == schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"} || kind == schema.GroupKind{Kind: "Service"}
}

// retryWithoutCopy sends the requests again for those refused objects whose existing copy may be the reason for the
// refusal, with the copy deleted meanwhile.
func (l *Loader) retryWithoutCopy(ctx context.Context, those []*Result) error {
	byPath := map[string][]*Result{}
	for _, r := range those {
		if r.Answer.Allowed || !refusesItself(r.Object.GroupVersionKind().GroupKind()) || r.Object.Name() == "" {
			continue
		}
		if at, err := l.place(r.Applied); err == nil {
			byPath[at.path] = append(byPath[at.path], r)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		if err := l.withoutOne(ctx, path, byPath[path]); err != nil {
			return fmt.Errorf("ask about %s while it is away: %w", path, err)
		}
	}
	return nil
}

// withoutOne deletes an object, sends the requests of its results again, and restores it.
func (l *Loader) withoutOne(ctx context.Context, path string, of []*Result) (err error) {
	got, err := l.client.do(ctx, call{method: http.MethodGet, path: path})
	if err != nil || !got.ok() {
		return err // it does not exist, so it is not the reason for the refusal
	}
	there := map[string]any{}
	if err := json.Unmarshal(got.Body, &there); err != nil {
		return fmt.Errorf("read what is there: %w", err)
	}
	if got, err = l.client.do(ctx, call{method: http.MethodDelete, path: path}); err == nil {
		err = got.err()
	}
	if err != nil {
		return err
	}
	for _, r := range of {
		if err = l.retryDeleted(ctx, r); err != nil {
			break
		}
	}
	if back := l.putBack(ctx, of[0], there); err == nil {
		err = back
	}
	return err
}

// retryDeleted sends a dry-run creation for an object that was deleted. It repeats it, since the server
// notices the deletion of a PriorityClass with a delay.
func (l *Loader) retryDeleted(ctx context.Context, r *Result) error {
	at, err := l.place(r.Applied)
	if err != nil {
		return err
	}
	return until(ctx, "the object to be gone", func(ctx context.Context) (bool, error) {
		got, err := l.tryCreate(ctx, at, r.Applied)
		if err != nil {
			return false, err
		}
		r.Answer = verdictOf(got)
		return !isDefaultAlready(r.Answer, r.Object.Name()), nil
	})
}

// isDefaultAlready reports whether an answer says that the PriorityClass itself is already the default.
func isDefaultAlready(v policy.Verdict, name string) bool {
	return strings.HasSuffix(v.Message, fmt.Sprintf(": PriorityClass %s is already marked as default. Only one default can exist", name))
}

// putBack creates the deleted object again, as its deployer did.
func (l *Loader) putBack(ctx context.Context, r *Result, there map[string]any) error {
	if metadata, ok := there["metadata"].(map[string]any); ok {
		for _, field := range []string{"resourceVersion", "uid", "creationTimestamp", "managedFields"} {
			delete(metadata, field)
		}
	}
	at, err := l.place(r.Applied)
	if err != nil {
		return err
	}
	a, err := l.client.do(ctx, call{method: http.MethodPost, path: at.collection, query: parameters(r.Applied), body: there, user: r.User})
	if err == nil {
		err = a.err()
	}
	return err
}
