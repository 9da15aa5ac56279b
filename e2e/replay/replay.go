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
	// OldObjects are, by the name of the request, the objects that were updated or
	// deleted as the server has them stored.
	OldObjects map[string]map[string]any
	// Unasked are, by name, the requests that could not be asked: the server does not
	// serve their kind (*live.UnknownKindError) or refuses to have had their old object
	// (*RefusedError).
	Unasked map[string]error
}

func (r *Recorder) newRecord() *Record {
	return &Record{
		Expected: &suite.Expected{RecordedFrom: r.Source()},
		Objects:  map[string]map[string]any{}, OldObjects: map[string]map[string]any{}, Unasked: map[string]error{},
	}
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
// requests, and takes all of it back.
func (r *Recorder) Record(ctx context.Context, s *suite.Suite) (record *Record, err error) {
	j := &journal{cluster: r.cluster}
	defer func() { err = errors.Join(err, j.back(context.WithoutCancel(ctx))) }()
	for _, o := range inOrder(s.Context) {
		if err := j.put(ctx, o); err != nil {
			return nil, fmt.Errorf("make the context: %w", err)
		}
	}
	if err := r.freshParams(ctx, j, s); err != nil {
		return nil, err
	}
	record = r.newRecord()
	if record.Expected.PolicyErrors, err = j.policies(ctx, s.Policies); err != nil {
		return nil, err
	}
	if err := r.sentinel.awaitAll(ctx); err != nil {
		return nil, err
	}
	return record, r.requests(ctx, s, record)
}

// freshParams makes the server under test know kinds of params, and params, as they
// are now. It resolves kinds by a discovery that is up to 30 seconds old, made when
// a policy first asks; and the informer of a built-in kind, once no policy has such
// params, is stopped for good (k8s.io/apiserver, policy_source.go). So there has to
// be a new server, that serves the definitions before it has a policy.
func (r *Recorder) freshParams(ctx context.Context, j *journal, s *suite.Suite) error {
	if !hasParams(s.Policies) {
		return nil
	}
	if err := r.cluster.RestartJudge(ctx); err != nil {
		return err
	}
	for _, o := range s.Context {
		if err := j.served(ctx, o); err != nil {
			return err
		}
	}
	return nil
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

// hasParams tells whether a policy has params.
func hasParams(policies []*admission.Object) bool {
	return slices.ContainsFunc(policies, func(o *admission.Object) bool {
		spec, _ := o.Content()["spec"].(map[string]any)
		return spec["paramKind"] != nil
	})
}

// requests asks the requests, each with its old object in the state and no other.
func (r *Recorder) requests(ctx context.Context, s *suite.Suite, record *Record) (err error) {
	old := &oldObject{recorder: r, journal: &journal{cluster: r.cluster}}
	defer func() { err = errors.Join(err, old.journal.back(context.WithoutCancel(ctx))) }()
	names := policyNames(s.Policies)
	for i := range s.Requests {
		request := &s.Requests[i]
		err := old.exchange(ctx, request.OldObject)
		if err == nil {
			err = r.ask(ctx, request, names, record)
		}
		var unknown *live.UnknownKindError
		var refused *RefusedError
		switch {
		case errors.As(err, &unknown) || errors.As(err, &refused):
			record.Unasked[request.Name] = err
		case err != nil:
			return fmt.Errorf("request %s: %w", request.Name, err)
		}
	}
	return nil
}

// oldObject is the old object in the state, if there is one.
type oldObject struct {
	recorder *Recorder
	journal  *journal
	present  map[string]any
}

// exchange takes the old object back and makes the next, unless it is the same.
func (o *oldObject) exchange(ctx context.Context, next map[string]any) error {
	if reflect.DeepEqual(o.present, next) {
		return nil
	}
	o.present = nil
	if err := o.journal.back(ctx); err != nil || next == nil {
		return err
	}
	made := admission.NewObject(next)
	if err := o.journal.put(ctx, made); err != nil {
		return fmt.Errorf("make the old object: %w", err)
	}
	o.present = next
	if gvk := made.GroupVersionKind(); gvk.Kind == namespaceKind || gvk.Group == "rbac.authorization.k8s.io" {
		return o.recorder.sentinel.awaitState(ctx)
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

// ask asks a request as a dry run and records the answer.
func (r *Recorder) ask(ctx context.Context, request *suite.Request, policies map[string]bool, record *Record) error {
	place, err := r.cluster.Judge.Place(ctx, mainObject(request))
	if err != nil {
		return err
	}
	if request.OldObject != nil {
		old, err := get(ctx, r.cluster.Setup, place.Path)
		if err != nil {
			return &RefusedError{Object: mainObject(request), Message: "it is not kept: " + err.Error()}
		}
		record.OldObjects[request.Name] = old
	}
	a, err := r.cluster.Judge.Do(ctx, call(request, place, record.OldObjects[request.Name]))
	if err != nil {
		return err
	}
	v := suite.Verdict{Name: request.Name, Allowed: a.OK(), Warnings: a.Warnings}
	if v.AuditAnnotations, err = r.cluster.Judge.AuditAnnotations(ctx, a); err != nil {
		return err
	}
	maps.DeleteFunc(v.AuditAnnotations, func(key, _ string) bool {
		prefix, _, _ := strings.Cut(key, "/")
		return !policies[prefix]
	})
	switch {
	case !v.Allowed:
		status := a.Status()
		v.Code, v.Reason, v.Message = int32(a.Code), string(status.Reason), status.Message
	case request.Object != nil:
		if record.Objects[request.Name], err = a.Object(); err != nil {
			return err
		}
	}
	record.Expected.Verdicts = append(record.Expected.Verdicts, v)
	return nil
}

// mainObject is the object whose resource is asked, in the version that is asked.
func mainObject(request *suite.Request) *admission.Object {
	if request.Object != nil && (request.Subresource == "" || request.OldObject == nil) {
		return admission.NewObject(request.Object)
	}
	return admission.NewObject(request.OldObject)
}

// call is a request as an HTTP call, on an old object as it is stored.
func call(request *suite.Request, place live.Place, old map[string]any) live.Call {
	c := live.Call{Path: place.Path, Query: url.Values{"dryRun": {"All"}}, User: request.User}
	switch request.Operation {
	case "CREATE":
		c.Method, c.Path, c.Body = http.MethodPost, place.Collection, request.Object
	case "UPDATE":
		c.Method, c.Body = http.MethodPut, withResourceVersion(request.Object, old)
	case "DELETE":
		c.Method = http.MethodDelete
		return c
	}
	if request.Subresource != "" {
		c.Path = place.Path + "/" + request.Subresource
	}
	c.Query.Set("fieldValidation", "Warn")
	return c
}
