// Package suite runs conformance suites: a directory with policies, the state of
// a cluster, requests, and what an API server answered to them.
//
// A suite is a directory with
//
//   - context.yaml (optional): Namespaces, CustomResourceDefinitions, params and
//     RBAC objects that exist before the policies;
//   - policies.yaml: ValidatingAdmissionPolicies and bindings, created in order;
//   - requests.yaml: the requests to judge;
//   - expected.yaml (optional): the recorded answers.
package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	k8sadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy"
)

// Suite is a suite as read from its directory.
type Suite struct {
	Context  []*admission.Object
	Policies []*admission.Object
	Requests []Request
	// Expected is nil when the suite has no expected.yaml.
	Expected *Expected
}

// Request is an entry of requests.yaml.
type Request struct {
	Name        string         `json:"name"`
	Operation   string         `json:"operation"`
	Subresource string         `json:"subresource,omitempty"`
	User        *User          `json:"user,omitempty"`
	Object      map[string]any `json:"object,omitempty"`
	OldObject   map[string]any `json:"oldObject,omitempty"`
}

// User makes a request.
type User struct {
	Username string   `json:"username"`
	Groups   []string `json:"groups,omitempty"`
}

// Expected is expected.yaml, and the shape of what a run gives.
type Expected struct {
	RecordedFrom string        `json:"recordedFrom,omitempty"`
	PolicyErrors []PolicyError `json:"policyErrors,omitempty"`
	Verdicts     []Verdict     `json:"verdicts"`
}

// PolicyError is a policy or binding the server refused.
type PolicyError struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Message string `json:"message"`
}

// Verdict is the server's answer to the request of the same name.
type Verdict struct {
	Name             string            `json:"name"`
	Allowed          bool              `json:"allowed"`
	Code             int32             `json:"code,omitempty"`
	Reason           string            `json:"reason,omitempty"`
	Message          string            `json:"message,omitempty"`
	Warnings         []string          `json:"warnings,omitempty"`
	AuditAnnotations map[string]string `json:"auditAnnotations,omitempty"`

	// denials and auditFailures are what the server may say in Message and in the
	// annotation of failed validations.
	denials, auditFailures []string
}

// Load reads the suite at the top of a file system.
func Load(fsys fs.FS) (*Suite, error) {
	s := &Suite{}
	var err error
	if s.Context, err = readObjects(fsys, "context.yaml"); err != nil {
		return nil, err
	}
	if s.Policies, err = readObjects(fsys, "policies.yaml"); err != nil {
		return nil, err
	}
	data, err := fs.ReadFile(fsys, "requests.yaml")
	if err != nil {
		return nil, err
	}
	var requests struct {
		Requests []Request `json:"requests"`
	}
	if err := yaml.UnmarshalStrict(data, &requests); err != nil {
		return nil, fmt.Errorf("requests.yaml: %w", err)
	}
	s.Requests = requests.Requests
	data, err = fs.ReadFile(fsys, "expected.yaml")
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = yaml.UnmarshalStrict(data, &s.Expected)
	}
	if err != nil {
		return nil, fmt.Errorf("expected.yaml: %w", err)
	}
	return s, nil
}

// readObjects reads the objects of a multi-document file; none when there is no
// such file.
func readObjects(fsys fs.FS, name string) ([]*admission.Object, error) {
	data, err := fs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var objects []*admission.Object
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		var content map[string]any
		err := decoder.Decode(&content)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: document %d: %w", name, len(objects)+1, err)
		}
		objects = append(objects, expand(content)...)
	}
}

// expand gives the objects of a document: those of a List, else itself.
func expand(content map[string]any) []*admission.Object {
	if len(content) == 0 {
		return nil
	}
	items, isList := content["items"].([]any)
	if content["kind"] != "List" || !isList {
		return []*admission.Object{{Content: content}}
	}
	var objects []*admission.Object
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			objects = append(objects, expand(m)...)
		}
	}
	return objects
}

// Admin is who asks when a request does not say, and who creates the policies.
func Admin() user.Info { return (*User)(nil).info() }

func (u *User) info() user.Info {
	if u == nil {
		u = &User{Username: "system:admin", Groups: []string{user.SystemPrivilegedGroup}}
	}
	groups := append([]string(nil), u.Groups...)
	if namespace, _, err := serviceaccount.SplitUsername(u.Username); err == nil && len(groups) == 0 {
		groups = serviceaccount.MakeGroupNames(namespace)
	}
	return &user.DefaultInfo{Name: u.Username, Groups: append(groups, user.AllAuthenticated)}
}

// Run gives the answers to all requests of a suite.
func (s *Suite) Run(ctx context.Context) (*Expected, error) {
	state := admission.NewIndex(append(append([]*admission.Object(nil), s.Context...), s.Policies...))
	base := admission.NewCluster(admission.ClusterOptions{Complete: true}, state)
	set, refusals := policy.Load(ctx, base, Admin(), s.Policies)
	got := &Expected{PolicyErrors: policyErrors(refusals)}
	compiler := policy.NewCompiler()
	for i := range s.Requests {
		v, err := s.Requests[i].run(ctx, state, compiler, set)
		if err != nil {
			return nil, fmt.Errorf("request %s: %w", s.Requests[i].Name, err)
		}
		got.Verdicts = append(got.Verdicts, *v)
	}
	return got, nil
}

func policyErrors(refusals []policy.Refusal) []PolicyError {
	var errs []PolicyError
	for _, r := range refusals {
		errs = append(errs, PolicyError{Kind: r.Object.GroupVersionKind().Kind, Name: r.Object.Name(), Message: r.Message})
	}
	return errs
}

// Ask gives the request as asked of an API server. All are dry runs.
func (r *Request) Ask() admission.Ask {
	ask := admission.Ask{
		Operation: k8sadmission.Operation(r.Operation), Subresource: r.Subresource,
		User: r.User.info(), DryRun: true,
	}
	if r.Object != nil {
		ask.Object = &admission.Object{Content: r.Object}
	}
	if r.OldObject != nil {
		ask.OldObject = &admission.Object{Content: r.OldObject}
	}
	return ask
}

func (r *Request) run(ctx context.Context, state *admission.Index, compiler *policy.Compiler, set *policy.Set) (*Verdict, error) {
	ask := r.Ask()
	layers := []*admission.Index{state}
	if ask.OldObject != nil {
		layers = []*admission.Index{admission.NewIndex([]*admission.Object{ask.OldObject}), state}
	}
	cluster := admission.NewCluster(admission.ClusterOptions{Complete: true}, layers...)
	var req *admission.Request
	var warned []string
	err := cluster.Authorize(ctx, ask)
	if err == nil {
		req, warned, err = cluster.Prepare(ctx, ask)
	}
	if err != nil {
		if v, ok := policy.Refused(err, warned); ok {
			return r.verdict(v), nil
		}
		return nil, err
	}
	outcome := policy.NewEngine(cluster, compiler, set).Evaluate(ctx, req)
	v := r.verdict(outcome.Verdict(req, warned))
	v.denials, v.auditFailures = outcome.Denials(req), outcome.AuditFailures()
	return v, nil
}

func (r *Request) verdict(v policy.Verdict) *Verdict {
	return &Verdict{
		Name: r.Name, Allowed: v.Allowed, Code: v.Code, Reason: string(v.Reason), Message: v.Message,
		Warnings: v.Warnings, AuditAnnotations: v.AuditAnnotations,
	}
}
