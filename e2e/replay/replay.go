// Package replay replays suites on a real API server and records its answers.
package replay

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/e2e/live"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/suite"
)

// Recorder replays suites on one cluster, one after the other.
type Recorder struct {
	cluster  *live.Cluster
	sentinel *sentinel
	version  string
}

// Record is what the server answered to a suite.
type Record struct {
	// Expected is the expected.yaml of the answers.
	Expected *suite.Expected
	// Objects are, by the name of the request, the objects of answers to CREATE and
	// UPDATE that were allowed: as admission saw them.
	Objects map[string]map[string]any
}

// New makes a recorder.
func New(ctx context.Context, c *live.Cluster) (*Recorder, error) {
	version, err := c.Version(ctx)
	if err != nil {
		return nil, err
	}
	return &Recorder{cluster: c, sentinel: &sentinel{cluster: c}, version: version}, nil
}

// Source is recordedFrom of what is recorded.
func (r *Recorder) Source() string { return "kube-apiserver " + r.version }

// Record replays a suite: it makes the context, then the policies, asks the
// requests, and takes all of it back. It fails when a request cannot be asked.
func (r *Recorder) Record(ctx context.Context, s *suite.Suite) (record *Record, err error) {
	j := &journal{cluster: r.cluster}
	defer func() { err = errors.Join(err, j.back(context.WithoutCancel(ctx))) }()
	for _, o := range inOrder(s.Context) {
		if err := j.put(ctx, o); err != nil {
			return nil, fmt.Errorf("make the context: %w", err)
		}
	}
	record = &Record{Expected: &suite.Expected{RecordedFrom: r.Source()}, Objects: map[string]map[string]any{}}
	if record.Expected.PolicyErrors, err = j.policies(ctx, s.Policies); err != nil {
		return nil, err
	}
	if hasCustomParams(s.Policies) {
		// The server resolves kinds of params by a discovery that is up to 30 seconds old.
		if err := r.cluster.RestartJudge(ctx); err != nil {
			return nil, err
		}
	}
	if err := r.sentinel.awaitAll(ctx); err != nil {
		return nil, err
	}
	return record, r.requests(ctx, s, record)
}

// inOrder puts what others need first: definitions, then namespaces.
func inOrder(objects []*admission.Object) []*admission.Object {
	rank := func(o *admission.Object) int {
		return 2 - max(0, slices.Index([]string{"", namespaceKind, crdKind}, o.GroupVersionKind().Kind))
	}
	return slices.SortedStableFunc(slices.Values(objects), func(a, b *admission.Object) int { return rank(a) - rank(b) })
}

// policies creates policies and bindings in their order and gives those refused.
func (j *journal) policies(ctx context.Context, policies []*admission.Object) ([]suite.PolicyError, error) {
	var refused []suite.PolicyError
	for _, o := range policies {
		err := j.put(ctx, o)
		var refusal *RefusedError
		switch {
		case errors.As(err, &refusal):
			refused = append(refused, suite.PolicyError{Kind: o.GroupVersionKind().Kind, Name: o.Name(), Message: refusal.Message})
		case err != nil:
			return nil, fmt.Errorf("create the policies: %w", err)
		}
	}
	return refused, nil
}

// hasCustomParams tells whether a policy has params of a kind that is not
// Kubernetes' own, or not known.
func hasCustomParams(policies []*admission.Object) bool {
	return slices.ContainsFunc(policies, func(o *admission.Object) bool {
		spec, _ := o.Content["spec"].(map[string]any)
		params, _ := spec["paramKind"].(map[string]any)
		apiVersion, _ := params["apiVersion"].(string)
		gv, err := schema.ParseGroupVersion(apiVersion)
		return params != nil && (err != nil || strings.Contains(gv.Group, ".") && !strings.HasSuffix(gv.Group, ".k8s.io"))
	})
}

// requests asks the requests, each with its old object in the state and no other.
func (r *Recorder) requests(ctx context.Context, s *suite.Suite, record *Record) (err error) {
	old := &journal{cluster: r.cluster}
	defer func() { err = errors.Join(err, old.back(context.WithoutCancel(ctx))) }()
	var present map[string]any
	names := policyNames(s.Policies)
	for i := range s.Requests {
		request := &s.Requests[i]
		if !reflect.DeepEqual(present, request.OldObject) {
			if err := r.exchange(ctx, old, request.OldObject); err != nil {
				return fmt.Errorf("request %s: make the old object: %w", request.Name, err)
			}
			present = request.OldObject
		}
		v, object, err := r.ask(ctx, request, names)
		if err != nil {
			return fmt.Errorf("request %s: %w", request.Name, err)
		}
		record.Expected.Verdicts = append(record.Expected.Verdicts, *v)
		if object != nil {
			record.Objects[request.Name] = object
		}
	}
	return nil
}

// exchange takes one old object back and makes the next, if there is one.
func (r *Recorder) exchange(ctx context.Context, old *journal, next map[string]any) error {
	if err := old.back(ctx); err != nil {
		return err
	}
	if next == nil {
		return nil
	}
	o := &admission.Object{Content: next}
	if err := old.put(ctx, o); err != nil {
		return err
	}
	if gvk := o.GroupVersionKind(); gvk.Kind == namespaceKind || gvk.Group == "rbac.authorization.k8s.io" {
		return r.sentinel.awaitState(ctx)
	}
	return nil
}

// policyNames are the prefixes of audit annotations that policies add.
func policyNames(policies []*admission.Object) map[string]bool {
	names := map[string]bool{"validation.policy.admission.k8s.io": true}
	for _, o := range policies {
		names[o.Name()] = true
	}
	return names
}

// ask asks a request as a dry run.
func (r *Recorder) ask(ctx context.Context, request *suite.Request, policies map[string]bool) (*suite.Verdict, map[string]any, error) {
	call, err := r.call(ctx, request)
	if err != nil {
		return nil, nil, err
	}
	a, err := r.cluster.Judge.Do(ctx, call)
	if err != nil {
		return nil, nil, err
	}
	v := &suite.Verdict{Name: request.Name, Allowed: a.OK(), Warnings: a.Warnings}
	annotations, err := r.cluster.Judge.AuditAnnotations(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	maps.DeleteFunc(annotations, func(key, _ string) bool {
		prefix, _, _ := strings.Cut(key, "/")
		return !policies[prefix]
	})
	v.AuditAnnotations = annotations
	if !v.Allowed {
		status := a.Status()
		v.Code, v.Reason, v.Message = int32(a.Code), string(status.Reason), status.Message
		return v, nil, nil
	}
	if request.Object == nil {
		return v, nil, nil
	}
	object, err := a.Object()
	return v, object, err
}

// call is a request as an HTTP call.
func (r *Recorder) call(ctx context.Context, request *suite.Request) (live.Call, error) {
	main := request.OldObject
	if main == nil {
		main = request.Object
	}
	place, err := r.cluster.Judge.Place(ctx, &admission.Object{Content: main})
	if err != nil {
		return live.Call{}, err
	}
	call := live.Call{Path: place.Path, Query: url.Values{"dryRun": {"All"}}, User: request.User}
	switch request.Operation {
	case "CREATE":
		call.Method, call.Path = http.MethodPost, place.Collection
	case "UPDATE":
		call.Method = http.MethodPut
	case "DELETE":
		call.Method = http.MethodDelete
		return call, nil
	}
	if request.Subresource != "" {
		call.Path = place.Path + "/" + request.Subresource
	}
	call.Query.Set("fieldValidation", "Warn")
	call.Body = request.Object
	return call, nil
}
