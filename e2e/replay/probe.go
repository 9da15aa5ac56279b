package replay

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
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

// probeYAML is the template of the objects of a probe.
//
//go:embed probe.yaml
var probeYAML string

// probe detects when the server under test uses the state that was written. The server
// reads it through informers, with a delay: for policies up to a second.
//
// The objects of the probe are written last, with a new number each time. When the answer
// to the probe's request shows the new numbers, all objects of the same kinds that were
// written before are in force: policies and bindings, namespaces, and RBAC.
type probe struct {
	cluster *live.Cluster
	// Policies and State are the numbers of the policy objects and of the others.
	Policies, State int
	// Mutates is set if the server supports MutatingAdmissionPolicies.
	Mutates bool
}

// newProbe returns a probe of a cluster.
func newProbe(ctx context.Context, c *live.Cluster) (*probe, error) {
	_, err := c.Setup.Place(ctx, admission.NewObject(map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy", "metadata": map[string]any{"name": "preadmit-probe"},
	}))
	var unserved *live.UnknownKindError
	if err != nil && !errors.As(err, &unserved) {
		return nil, err
	}
	return &probe{cluster: c, Mutates: err == nil}, nil
}

// The warnings of the probe's policy.
const (
	warnsInForce = "probe in force"
	warnsBehind  = "probe behind"
)

// awaitState waits until the state is in force: namespaces and RBAC.
func (s *probe) awaitState(ctx context.Context) error {
	s.State++
	if err := s.apply(ctx, "Namespace", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"); err != nil {
		return err
	}
	return s.await(ctx)
}

// awaitAll waits until the policies are in force as well.
func (s *probe) awaitAll(ctx context.Context) error {
	s.State++
	s.Policies++
	if err := s.apply(ctx); err != nil {
		return err
	}
	return s.await(ctx)
}

// objects returns the objects of the probe. The last one is that of its request.
func (s *probe) objects() ([]*admission.Object, error) {
	var text bytes.Buffer
	t, err := template.New("probe").Parse(probeYAML)
	if err == nil {
		err = t.Execute(&text, s)
	}
	if err != nil {
		return nil, fmt.Errorf("make the probe: %w", err)
	}
	var objects []*admission.Object
	for _, document := range strings.Split(text.String(), "\n---\n") {
		data, err := yaml.YAMLToJSON([]byte(document))
		if err != nil {
			return nil, fmt.Errorf("read the probe: %w", err)
		}
		objects = append(objects, admission.ParseObject(data))
	}
	return objects, nil
}

// apply creates or changes the probe's objects of some kinds, of all kinds if none is given.
func (s *probe) apply(ctx context.Context, kinds ...string) error {
	objects, err := s.objects()
	if err != nil {
		return err
	}
	for _, o := range objects[:len(objects)-1] {
		if len(kinds) > 0 && !slices.Contains(kinds, o.GroupVersionKind().Kind) {
			continue
		}
		if err := s.applyOne(ctx, o); err != nil {
			return fmt.Errorf("apply the probe's %s: %w", o.GroupVersionKind().Kind, err)
		}
	}
	return nil
}

func (s *probe) applyOne(ctx context.Context, o *admission.Object) error {
	place, err := s.cluster.Setup.Place(ctx, o)
	if err != nil {
		return err
	}
	a, err := s.cluster.Setup.Do(ctx, live.Call{
		Method: http.MethodPatch, Path: place.Path, ContentType: "application/apply-patch+yaml",
		Query: url.Values{"fieldManager": {"probe"}, "force": {"true"}}, Body: o.Content(),
	})
	if err != nil {
		return err
	}
	return a.Err()
}

func (s *probe) await(ctx context.Context) error {
	objects, err := s.objects()
	if err != nil {
		return err
	}
	request := objects[len(objects)-1]
	place, err := s.cluster.Tested.Place(ctx, request)
	if err != nil {
		return err
	}
	return poll(ctx, "policies and state to be in force", func() (bool, error) {
		a, err := s.cluster.Tested.Do(ctx, live.Call{
			Method: http.MethodPost, Path: place.Collection, Query: url.Values{"dryRun": {"All"}}, Body: request.Content(),
		})
		if err != nil {
			return false, err
		}
		return seen(a.Warnings, fmt.Sprintf("%s %d", warnsInForce, s.Policies)) && !seen(a.Warnings, warnsBehind), nil
	})
}

// seen reports whether a warning ends with a text. Policies under test may refuse the
// request of the probe, but cannot suppress its warnings.
func seen(warnings []string, text string) bool {
	for _, w := range warnings {
		if strings.HasSuffix(w, ": "+text) {
			return true
		}
	}
	return false
}
