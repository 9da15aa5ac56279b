package suite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	k8sadmission "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/explain"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/server"
)

// Run returns the verdicts on all requests of a suite.
func (s *Suite) Run(ctx context.Context) (*Expected, error) {
	return s.RunSome(ctx, func(string) bool { return true })
}

// RunSome returns the verdicts on the requests for which chosen returns true.
func (s *Suite) RunSome(ctx context.Context, chosen func(name string) bool) (*Expected, error) {
	c := s.newCluster(ctx)
	got := &Expected{PolicyErrors: policyErrors(c.policies.Refusals)}
	for i := range s.Requests {
		if !chosen(s.Requests[i].Name) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v, err := c.run(ctx, &s.Requests[i])
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

// ClientRequest returns the request as an API server receives it. All requests are dry runs.
func (r *Request) ClientRequest() admission.ClientRequest {
	request := admission.ClientRequest{
		Operation: k8sadmission.Operation(r.Operation), Subresource: r.Subresource,
		User: r.User.info(), DryRun: true,
	}
	if r.Object != nil {
		request.Object = admission.NewObject(r.Object)
	}
	if r.OldObject != nil {
		request.OldObject = admission.NewObject(r.OldObject)
	}
	return request
}

// cluster is the cluster of a suite with its policies.
type cluster struct {
	builder  *server.Builder
	state    *admission.Index
	policies *server.Loaded
	// mutates is set if the suite has mutating policies.
	mutates bool
}

func (s *Suite) newCluster(ctx context.Context) *cluster {
	c := &cluster{
		builder: server.NewBuilder(server.Options{
			ClusterOptions: admission.ClusterOptions{Known: kinds.CompleteAll(), Creator: Admin()}, User: Admin(), Compiler: s.Compiler,
		}),
		state: admission.NewIndex(append(append([]*admission.Object(nil), s.Context...), s.Policies...)),
	}
	c.mutates = slices.ContainsFunc(s.Policies, func(o *admission.Object) bool { return kinds.IsMutation(o.GroupVersionKind().GroupKind()) })
	c.policies = c.builder.Load(ctx, c.builder.Cluster(c.state), s.Policies)
	return c
}

// server returns the server for a request. Its state has the object that the request updates or
// deletes, whatever the suite's state has.
func (c *cluster) server(request admission.ClientRequest) *server.Server {
	layers := []*admission.Index{c.state}
	if request.OldObject != nil {
		layers = []*admission.Index{admission.NewIndex([]*admission.Object{request.OldObject}), c.state}
	}
	return c.builder.Server(server.View{Cluster: c.builder.Cluster(layers...), Policies: c.policies.Set})
}

// Explain explains the verdict on the request with a name. ok is false if there is none.
func (s *Suite) Explain(ctx context.Context, name string, opts explain.Options) (out *report.ExplainReport, ok bool, err error) {
	i := slices.IndexFunc(s.Requests, func(r Request) bool { return r.Name == name })
	if i < 0 {
		return nil, false, nil
	}
	c := s.newCluster(ctx)
	request := s.Requests[i].ClientRequest()
	if out, err = explain.Request(ctx, c.server(request), request, opts); err != nil {
		return nil, true, fmt.Errorf("request %s: %w", name, err)
	}
	out.Request.Case = name
	for _, e := range policyErrors(c.policies.Refusals) {
		out.Refused = append(out.Refused, report.PolicyError{Kind: e.Kind, Name: e.Name, Message: e.Message})
	}
	return out, true, nil
}

// run returns the verdict on a request.
func (c *cluster) run(ctx context.Context, r *Request) (*Verdict, error) {
	request := r.ClientRequest()
	review, err := c.server(request).Review(ctx, request)
	switch {
	case err != nil:
		return nil, err
	case review.Request == nil:
		return r.stopped(&review)
	}
	v := r.verdict(review.Response())
	for _, d := range review.Denials() {
		v.denials = append(v.denials, refusal{d.Code, string(d.Reason), d.Message})
	}
	v.auditFailures, v.Indeterminate, v.review = review.AuditFailures(), reasons(review.Indeterminate), &review
	if c.mutates {
		v.Object = seen(&review)
	}
	return v, nil
}

// stopped returns the verdict on a request that reaches no policy: the server's refusal, or the
// reason why it takes a cluster to decide.
func (r *Request) stopped(review *server.Verdict) (*Verdict, error) {
	var unknown *admission.UnknownKindError
	var conversion *admission.ConversionError
	switch {
	case review.NeverStored != nil:
		return &Verdict{Name: r.Name, Indeterminate: []string{review.NeverStored.Error()}}, nil
	case errors.As(review.Unknown, &unknown) || errors.As(review.Unknown, &conversion):
		return &Verdict{Name: r.Name, Indeterminate: []string{review.Unknown.Error()}}, nil
	case review.Unknown != nil:
		return nil, review.Unknown
	}
	return r.verdict(review.Response()), nil
}

func reasons(all []policy.Indeterminate) []string {
	var texts []string
	for _, i := range all {
		text := "policy " + i.Policy.Name
		if i.Binding != nil {
			text += ", binding " + i.Binding.Name
		}
		texts = append(texts, text+": "+i.Why)
	}
	return texts
}

func (r *Request) verdict(v policy.Verdict) *Verdict {
	return &Verdict{
		Name: r.Name, Allowed: v.Allowed, Code: v.Code, Reason: string(v.Reason), Message: v.Message,
		Warnings: v.Warnings, AuditAnnotations: v.AuditAnnotations,
	}
}

// seen returns the object after all mutation, as JSON decodes it, without fields that the server
// chooses.
func seen(review *server.Verdict) map[string]any {
	content, _ := review.Objects()
	text, err := json.Marshal(content)
	var object map[string]any
	if err != nil || json.Unmarshal(text, &object) != nil {
		return nil
	}
	if metadata, ok := object["metadata"].(map[string]any); ok {
		for _, field := range []string{"uid", "creationTimestamp", "resourceVersion"} {
			delete(metadata, field)
		}
	}
	return object
}
