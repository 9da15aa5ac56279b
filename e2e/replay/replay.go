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
	"time"

	"github.com/preadmit/preadmit/e2e/live"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/suite"
)

// Recorder replays suites on one cluster, one after the other.
type Recorder struct {
	cluster *live.Cluster
	probe   *probe
	version string
}

// Record has the server's answers to a suite.
type Record struct {
	// Expected is the expected.yaml with the answers.
	Expected *suite.Expected
	// Objects has, by the name of the request, the objects of allowed CREATE and UPDATE
	// requests as admission saw them.
	Objects map[string]map[string]any
	// OldObjects has, by the name of the request, the updated or deleted objects as the
	// server stores them.
	OldObjects map[string]map[string]any
	// Unasked has, by name, the errors of requests that could not be sent: the server does
	// not serve their kind (*live.UnknownKindError) or refuses their old object
	// (*RefusedError).
	Unasked map[string]error
}

func (r *Recorder) newRecord() *Record {
	return &Record{
		Expected: &suite.Expected{RecordedFrom: r.Source()},
		Objects:  map[string]map[string]any{}, OldObjects: map[string]map[string]any{}, Unasked: map[string]error{},
	}
}

// New returns a recorder.
func New(ctx context.Context, c *live.Cluster) (*Recorder, error) {
	version, err := c.Version(ctx)
	if err != nil {
		return nil, err
	}
	p, err := newProbe(ctx, c)
	if err != nil {
		return nil, err
	}
	return &Recorder{cluster: c, probe: p, version: version}, nil
}

// Source returns the value of recordedFrom in the records.
func (r *Recorder) Source() string { return "kube-apiserver " + r.version }

// Put creates objects, which exist until revert is called.
func (r *Recorder) Put(ctx context.Context, objects []*admission.Object) (revert func(context.Context) error, err error) {
	c := &changes{cluster: r.cluster}
	for _, o := range inOrder(objects) {
		if err := c.put(ctx, o); err != nil {
			return c.revert, err
		}
	}
	return c.revert, r.probe.awaitAll(ctx)
}

// Tested returns the server under test.
func (r *Recorder) Tested() *live.Server { return r.cluster.Tested }

// Record replays a suite: it creates the context and then the policies, sends the
// requests, and reverts everything.
func (r *Recorder) Record(ctx context.Context, s *suite.Suite) (record *Record, err error) {
	c := &changes{cluster: r.cluster}
	defer func() { err = errors.Join(err, c.revert(context.WithoutCancel(ctx))) }()
	for _, o := range inOrder(s.Context) {
		if err := c.put(ctx, o); err != nil {
			return nil, fmt.Errorf("make the context: %w", err)
		}
	}
	if err := r.freshParams(ctx, c, s); err != nil {
		return nil, err
	}
	record = r.newRecord()
	if record.Expected.PolicyErrors, err = c.policies(ctx, s.Policies); err != nil {
		return nil, err
	}
	if err := r.probe.awaitAll(ctx); err != nil {
		return nil, err
	}
	if err := awaitSchemas(ctx, s); err != nil {
		return nil, err
	}
	return record, r.requests(ctx, s, record)
}

// freshParams restarts the server under test if policies have params, so that it has the
// current params and their kinds. A running server resolves kinds by a discovery that is up
// to 30 seconds old, and stops the informer of a built-in kind for good once no policy has
// such params (k8s.io/apiserver, policy_source.go). The new server must serve the definitions
// before it has a policy.
func (r *Recorder) freshParams(ctx context.Context, c *changes, s *suite.Suite) error {
	if !hasParams(s.Policies) {
		return nil
	}
	if err := r.cluster.RestartTested(ctx); err != nil {
		return err
	}
	for _, o := range s.Context {
		if err := c.served(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// schemaInterval is the interval in which mutating policies request the schemas of custom kinds
// (k8s.io/apiserver, typeConverterManager), plus some time to publish them.
const schemaInterval = 5*time.Second + 2*time.Second

// awaitSchemas waits until mutating policies know the schemas of the custom kinds of a suite, which are already
// served. Until then they use the schemas of an earlier definition, of this kind or of another kind of its group.
func awaitSchemas(ctx context.Context, s *suite.Suite) error {
	defines := slices.ContainsFunc(s.Context, func(o *admission.Object) bool { return o.GroupVersionKind().Kind == crdKind })
	mutates := slices.ContainsFunc(s.Policies, func(o *admission.Object) bool { return kinds.IsMutation(o.GroupVersionKind().GroupKind()) })
	if !defines || !mutates {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(schemaInterval):
		return nil
	}
}

// inOrder sorts objects that others need first: definitions, then namespaces.
func inOrder(objects []*admission.Object) []*admission.Object {
	rank := func(o *admission.Object) int {
		return 2 - max(0, slices.Index([]string{"", namespaceKind, crdKind}, o.GroupVersionKind().Kind))
	}
	return slices.SortedStableFunc(slices.Values(objects), func(a, b *admission.Object) int { return rank(a) - rank(b) })
}

// policies creates policies and bindings in their order and returns those refused.
func (c *changes) policies(ctx context.Context, policies []*admission.Object) ([]suite.PolicyError, error) {
	var refused []suite.PolicyError
	for _, o := range policies {
		err := c.put(ctx, o)
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

// hasParams reports whether any policy has params.
func hasParams(policies []*admission.Object) bool {
	return slices.ContainsFunc(policies, func(o *admission.Object) bool {
		spec, _ := o.Content()["spec"].(map[string]any)
		return spec["paramKind"] != nil
	})
}

// requests sends the requests, each with only its own old object in the state.
func (r *Recorder) requests(ctx context.Context, s *suite.Suite, record *Record) (err error) {
	old := &oldObject{recorder: r, changes: &changes{cluster: r.cluster}}
	defer func() { err = errors.Join(err, old.changes.revert(context.WithoutCancel(ctx))) }()
	names := policyNames(s.Policies)
	for i := range s.Requests {
		request := &s.Requests[i]
		err := old.exchange(ctx, request.OldObject)
		if err == nil {
			err = r.send(ctx, request, names, record)
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

// oldObject manages the old object in the state, if there is one.
type oldObject struct {
	recorder *Recorder
	changes  *changes
	present  map[string]any
}

// exchange removes the old object and creates the next, unless it is the same.
func (o *oldObject) exchange(ctx context.Context, next map[string]any) error {
	if reflect.DeepEqual(o.present, next) {
		return nil
	}
	o.present = nil
	if err := o.changes.revert(ctx); err != nil || next == nil {
		return err
	}
	made := admission.NewObject(next)
	if err := o.changes.put(ctx, made); err != nil {
		return fmt.Errorf("make the old object: %w", err)
	}
	o.present = next
	if gvk := made.GroupVersionKind(); gvk.Kind == namespaceKind || gvk.Group == "rbac.authorization.k8s.io" {
		return o.recorder.probe.awaitState(ctx)
	}
	return nil
}

// policyNames returns the set of key prefixes of audit annotations that policies add.
func policyNames(policies []*admission.Object) map[string]bool {
	names := map[string]bool{"validation.policy.admission.k8s.io": true}
	for _, o := range policies {
		names[o.Name()] = true
	}
	return names
}

// send sends a request as a dry run and records the answer.
func (r *Recorder) send(ctx context.Context, request *suite.Request, policies map[string]bool, record *Record) error {
	place, err := r.cluster.Tested.Place(ctx, mainObject(request))
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
	a, err := r.do(ctx, call(request, place, record.OldObjects[request.Name]))
	if err != nil {
		return err
	}
	v := suite.Verdict{Name: request.Name, Allowed: a.OK(), Warnings: a.Warnings}
	if v.AuditAnnotations, err = r.cluster.Tested.AuditAnnotations(ctx, a); err != nil {
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

// newKind bounds how long a server takes until mutating policies know a custom kind: they request its schema
// every five seconds.
const newKind = 60 * time.Second

// do sends a call. It repeats the call while mutating policies do not know its custom kind yet.
func (r *Recorder) do(ctx context.Context, c live.Call) (*live.Answer, error) {
	for began := time.Now(); ; {
		a, err := r.cluster.Tested.Do(ctx, c)
		if err != nil || a.Code != http.StatusServiceUnavailable || time.Since(began) > newKind ||
			!strings.Contains(a.Status().Message, "delay between when CustomResourceDefinitions are created and when they are available") {
			return a, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// mainObject returns the object whose resource the request is for, in its version.
func mainObject(request *suite.Request) *admission.Object {
	if request.Object != nil && (request.Subresource == "" || request.OldObject == nil) {
		return admission.NewObject(request.Object)
	}
	return admission.NewObject(request.OldObject)
}

// call returns a request as an HTTP call. old is the stored old object.
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
