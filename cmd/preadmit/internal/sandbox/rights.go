package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apiserver/pkg/authentication/user"
)

// adminsName is the ClusterRoleBinding that lets users apply the state before its own roles are
// loaded.
const (
	bindingsPath = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
	adminsName   = "preadmit-sandbox:deployers"
)

// probeUser is a user who has rights by that binding only. It is used to detect when the binding is gone,
// which the server notices with a delay.
var probeUser user.Info = &user.DefaultInfo{Name: adminsName}

// usersOf returns the users who apply objects, each once.
func usersOf(results []Result) []user.Info {
	var users []user.Info
	for _, r := range results {
		if r.User != nil && !slices.ContainsFunc(users, func(u user.Info) bool { return u.GetName() == r.User.GetName() }) {
			users = append(users, r.User)
		}
	}
	slices.SortFunc(users, func(a, b user.Info) int { return strings.Compare(a.GetName(), b.GetName()) })
	return users
}

// allow grants users all rights.
func (l *Loader) allow(ctx context.Context, users []user.Info) error {
	var subjects []any
	for _, u := range users {
		subjects = append(subjects, map[string]any{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": u.GetName()})
	}
	q := call{query: map[string][]string{}, body: map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
		"metadata": map[string]any{"name": adminsName},
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
		"subjects": subjects,
	}}
	applied(&q, place{path: bindingsPath + "/" + adminsName}, manager, true)
	a, err := l.client.do(ctx, q)
	if err == nil {
		err = a.err()
	}
	if err != nil {
		return fmt.Errorf("let the deployers apply objects: %w", err)
	}
	return until(ctx, "the rights of the deployers", func(ctx context.Context) (bool, error) {
		lacking, err := l.lacking(ctx, users)
		return len(lacking) == 0, err
	})
}

// disallow revokes the rights that allow granted, so that policies get the same answers from the
// authorizer as in the cluster. Users who could not apply the state with its own roles keep the rights;
// disallow returns their names.
func (l *Loader) disallow(ctx context.Context, users []user.Info) ([]string, error) {
	a, err := l.client.do(ctx, call{method: http.MethodDelete, path: bindingsPath + "/" + adminsName})
	if err == nil {
		err = a.err()
	}
	if err != nil {
		return nil, err
	}
	if err := l.gone(ctx, probeUser); err != nil {
		return nil, err
	}
	lacking, err := l.lacking(ctx, users)
	if err != nil || len(lacking) == 0 {
		return nil, err
	}
	var names []string
	for _, u := range lacking {
		names = append(names, u.GetName())
	}
	return names, l.allow(ctx, lacking)
}

// gone waits until a user has no rights.
func (l *Loader) gone(ctx context.Context, u user.Info) error {
	return until(ctx, "the rights of the deployers to be gone", func(ctx context.Context) (bool, error) {
		lacking, err := l.lacking(ctx, []user.Info{u})
		return len(lacking) > 0, err
	})
}

// lacking returns the users who do not have all rights.
func (l *Loader) lacking(ctx context.Context, users []user.Info) ([]user.Info, error) {
	var lacking []user.Info
	for _, u := range users {
		a, err := l.client.do(ctx, call{method: http.MethodPost, path: "/apis/authorization.k8s.io/v1/subjectaccessreviews", body: map[string]any{
			"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
			"spec": map[string]any{
				"user": u.GetName(), "groups": u.GetGroups(),
				"resourceAttributes": map[string]any{"verb": "*", "group": "*", "resource": "*"},
			},
		}})
		if err != nil {
			return nil, err
		}
		if err := a.err(); err != nil {
			return nil, fmt.Errorf("ask for the rights of %s: %w", u.GetName(), err)
		}
		var review struct{ Status struct{ Allowed bool } }
		if err := json.Unmarshal(a.Body, &review); err != nil {
			return nil, fmt.Errorf("read the rights of %s: %w", u.GetName(), err)
		}
		if !review.Status.Allowed {
			lacking = append(lacking, u)
		}
	}
	return lacking, nil
}
