package suite

import (
	"context"
	"errors"
	"fmt"

	k8sadmission "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy"
)

// judged is how a run came to a verdict.
type judged struct {
	engine  *policy.Engine
	request *admission.Request
	outcome policy.Outcome
}

// Run gives the answers to all requests of a suite.
func (s *Suite) Run(ctx context.Context) (*Expected, error) {
	return s.RunSome(ctx, func(string) bool { return true })
}

// RunSome gives the answers to the requests whose name is chosen.
func (s *Suite) RunSome(ctx context.Context, chosen func(name string) bool) (*Expected, error) {
	state := admission.NewIndex(append(append([]*admission.Object(nil), s.Context...), s.Policies...))
	base := admission.NewCluster(admission.ClusterOptions{Known: admission.AllKinds(), Creator: Admin()}, state)
	set, refusals := policy.Load(ctx, base, Admin(), s.Policies)
	got := &Expected{PolicyErrors: policyErrors(refusals)}
	compiler := policy.NewCompiler()
	for i := range s.Requests {
		if !chosen(s.Requests[i].Name) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
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
		ask.Object = admission.NewObject(r.Object)
	}
	if r.OldObject != nil {
		ask.OldObject = admission.NewObject(r.OldObject)
	}
	return ask
}

func (r *Request) run(ctx context.Context, state *admission.Index, compiler *policy.Compiler, set *policy.Set) (*Verdict, error) {
	ask := r.Ask()
	layers := []*admission.Index{state}
	if ask.OldObject != nil {
		layers = []*admission.Index{admission.NewIndex([]*admission.Object{ask.OldObject}), state}
	}
	cluster := admission.NewCluster(admission.ClusterOptions{Known: admission.AllKinds(), Creator: Admin()}, layers...)
	var req *admission.Request
	var warned []string
	err := cluster.Authorize(ctx, ask)
	if err == nil {
		req, warned, err = cluster.Prepare(ctx, ask)
	}
	if err != nil {
		return r.refused(err, warned)
	}
	j := &judged{engine: policy.NewEngine(cluster, compiler, set), request: req}
	j.outcome = j.engine.Evaluate(ctx, req)
	answer := j.outcome.Verdict(req, warned)
	if exists, ok := policy.Refused(req.Exists(), answer.Warnings); ok && answer.Allowed {
		exists.AuditAnnotations = answer.AuditAnnotations
		answer = exists
	}
	v := r.verdict(answer)
	v.denials, v.auditFailures = j.denials(), j.outcome.AuditFailures()
	v.Indeterminate, v.judged = reasons(j.outcome.Indeterminate), j
	return v, nil
}

// denials are the refusals the server may answer with: it names one of the decisions
// that deny, in no fixed order of policies, bindings and params.
func (j *judged) denials() []refusal {
	var all []refusal
	for i := range j.outcome.Decisions {
		if d := &j.outcome.Decisions[i]; d.Denies() {
			alone := policy.Outcome{Decisions: j.outcome.Decisions[i : i+1]}
			v := alone.Verdict(j.request, nil)
			all = append(all, refusal{v.Code, string(v.Reason), v.Message})
		}
	}
	return all
}

// refused is the verdict on a request that no policy sees: the server's refusal,
// or that it takes a cluster to know.
func (r *Request) refused(err error, warned []string) (*Verdict, error) {
	if v, ok := policy.Refused(err, warned); ok {
		return r.verdict(v), nil
	}
	var unknown *admission.UnknownKindError
	var conversion *admission.ConversionError
	var never *admission.NeverStoredError
	if errors.As(err, &unknown) || errors.As(err, &conversion) || errors.As(err, &never) {
		return &Verdict{Name: r.Name, Indeterminate: []string{err.Error()}}, nil
	}
	return nil, err
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
