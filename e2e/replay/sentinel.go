package replay

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"text/template"

	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/e2e/live"
	"github.com/preadmit/preadmit/scanner/admission"
)

// sentinelYAML are the sentinel's objects, made by a template of its tokens.
//
//go:embed sentinel.yaml
var sentinelYAML string

// sentinel tells when the server under test has noticed what was done to its
// state. It acts on informers, which are late: policies by up to a second.
//
// Its objects are the last to be changed, with a new token each time. When a
// request of its own is answered by the new ones, all that was changed before in
// the same kinds is in force: policies and bindings, namespaces, and RBAC.
type sentinel struct {
	cluster *live.Cluster
	// Policies and State are the tokens of the policy objects and of the others.
	Policies, State int
}

// sentinelWarnings are what the sentinel's policy warns of.
const (
	warnsInForce = "sentinel in force"
	warnsBehind  = "sentinel behind"
)

// awaitState waits until the state is in force: namespaces and RBAC.
func (s *sentinel) awaitState(ctx context.Context) error {
	s.State++
	if err := s.apply(ctx, "Namespace", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"); err != nil {
		return err
	}
	return s.await(ctx)
}

// awaitAll waits until the policies are in force as well.
func (s *sentinel) awaitAll(ctx context.Context) error {
	s.State++
	s.Policies++
	if err := s.apply(ctx); err != nil {
		return err
	}
	return s.await(ctx)
}

// objects are the sentinel's, and last its request.
func (s *sentinel) objects() ([]*admission.Object, error) {
	var text bytes.Buffer
	t, err := template.New("sentinel").Parse(sentinelYAML)
	if err == nil {
		err = t.Execute(&text, s)
	}
	if err != nil {
		return nil, fmt.Errorf("make the sentinel: %w", err)
	}
	var objects []*admission.Object
	for _, document := range strings.Split(text.String(), "\n---\n") {
		data, err := yaml.YAMLToJSON([]byte(document))
		if err != nil {
			return nil, fmt.Errorf("read the sentinel: %w", err)
		}
		objects = append(objects, admission.ParseObject(data))
	}
	return objects, nil
}

// apply creates or changes the sentinel's objects of some kinds, or all.
func (s *sentinel) apply(ctx context.Context, kinds ...string) error {
	objects, err := s.objects()
	if err != nil {
		return err
	}
	for _, o := range objects[:len(objects)-1] {
		if len(kinds) > 0 && !slices.Contains(kinds, o.GroupVersionKind().Kind) {
			continue
		}
		if err := s.applyOne(ctx, o); err != nil {
			return fmt.Errorf("apply the sentinel's %s: %w", o.GroupVersionKind().Kind, err)
		}
	}
	return nil
}

func (s *sentinel) applyOne(ctx context.Context, o *admission.Object) error {
	place, err := s.cluster.Setup.Place(ctx, o)
	if err != nil {
		return err
	}
	a, err := s.cluster.Setup.Do(ctx, live.Call{
		Method: http.MethodPatch, Path: place.Path, ContentType: "application/apply-patch+yaml",
		Query: url.Values{"fieldManager": {"sentinel"}, "force": {"true"}}, Body: o.Content(),
	})
	if err != nil {
		return err
	}
	return a.Err()
}

func (s *sentinel) await(ctx context.Context) error {
	objects, err := s.objects()
	if err != nil {
		return err
	}
	request := objects[len(objects)-1]
	place, err := s.cluster.Judge.Place(ctx, request)
	if err != nil {
		return err
	}
	return poll(ctx, "policies and state to be in force", func() (bool, error) {
		a, err := s.cluster.Judge.Do(ctx, live.Call{
			Method: http.MethodPost, Path: place.Collection, Query: url.Values{"dryRun": {"All"}}, Body: request.Content(),
		})
		if err != nil {
			return false, err
		}
		return seen(a.Warnings, fmt.Sprintf("%s %d", warnsInForce, s.Policies)) && !seen(a.Warnings, warnsBehind), nil
	})
}

// seen tells whether a warning ends with a text. Policies under test may refuse
// the sentinel's request; they cannot keep it from being warned about.
func seen(warnings []string, text string) bool {
	for _, w := range warnings {
		if strings.HasSuffix(w, ": "+text) {
			return true
		}
	}
	return false
}
