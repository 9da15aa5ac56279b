package server

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiserver "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/mutation"
	"github.com/preadmit/preadmit/scanner/policy"
)

// Verdict is the result of a request to an API server.
type Verdict struct {
	// Request is the request that policies judged; nil when it did not reach them, and for an unknown
	// kind that no policy may match.
	Request *admission.Request
	// Refusal is the server's own, before any policy.
	Refusal *apierrors.StatusError
	// Unknown is the reason why the request could not be judged offline. It is an
	// *admission.UnknownKindError or an *admission.ConversionError, or a defect.
	Unknown error
	// Unserved is set when the server refuses the request because its version does not serve the
	// kind.
	Unserved bool
	// NeverStored is set for the update of an object that no server can have stored.
	NeverStored *admission.NeverStoredError
	// Warnings are the server's own, in order.
	Warnings []string
	// Dropped are warnings about fields that are not sent to the server, because the applier's client
	// does not know them.
	Dropped []string

	// Decisions are the decisions of policies against the request, in the order of view, policy,
	// binding, param and validation; equal ones of several views once.
	Decisions []policy.Decision
	// Indeterminate are the policies that could not be evaluated.
	Indeterminate []policy.Indeterminate
	// AuditAnnotations are the audit annotations of the policies.
	AuditAnnotations map[string]string
	// Evaluations is the number of validations evaluated.
	Evaluations int

	// NotStored is the server's refusal of a request that all policies allow: by a ResourceQuota, or
	// because the object is too large for etcd.
	NotStored *apierrors.StatusError
	// QuotaUnknown is the reason why it is not known whether a ResourceQuota allows the request.
	QuotaUnknown error

	// Mutations are the changes of policies to the object, in order, also for a refused request.
	Mutations []mutation.Write
	// RefusedBy is the policy that refused the request because it could not change the object;
	// Binding is the name of the binding with which it did.
	RefusedBy *policy.Mutation
	Binding   string

	engine *policy.Engine
	exists error
}

// Unserved returns the reason why an object cannot be judged because nothing defines its kind; nil
// when it can: the kind is served or known by name, or no policy may match it.
func (s *Server) Unserved(o *admission.Object) error {
	kind := o.GroupVersionKind()
	if _, ok := s.Cluster().Resource(kind); ok {
		return nil
	}
	why := s.Cluster().UnknownKind(kind)
	operations := []apiserver.Operation{apiserver.Create, apiserver.Update, apiserver.Delete}
	if why.Refusal() != nil || s.Cluster().KnowsKinds() || slices.ContainsFunc(operations, func(op apiserver.Operation) bool { return s.MayMatch(nil, o, op) || s.MayMutate(nil, o, op) }) {
		return why
	}
	return nil
}

// Reached reports whether the request reached the policies, if there are any.
func (v *Verdict) Reached() bool { return v.Refusal == nil && v.Unknown == nil }

// Review decides a request. The error is always the context's.
func (s *Server) Review(ctx context.Context, in admission.ClientRequest) (v Verdict, err error) {
	return s.ReviewBeside(ctx, in, nil)
}

// ReviewBeside is Review if the server has judged another request about the object; other is nil for none. A
// policy without a finding about the other request is skipped if it reads nothing in which the requests
// differ. The verdict has neither its audit annotations nor its evaluations.
func (s *Server) ReviewBeside(ctx context.Context, in admission.ClientRequest, other *Verdict) (v Verdict, err error) {
	req, err := v.prepare(ctx, s.Cluster(), in, s.Mutator())
	if cause := ctx.Err(); cause != nil {
		return v, fmt.Errorf("review %s: %w", in.Operation, cause)
	}
	if err != nil {
		kind := new(admission.UnknownKindError)
		switch unserved := errors.As(err, &kind); {
		case !unserved || kind.Kind != in.Main().GroupVersionKind(): // it may be the kind of the old object
			v.recordError(err)
		case s.Unserved(in.Main()) == nil:
		case in.Operation != apiserver.Delete && kind.Refusal() != nil:
			v.Refusal, v.Unserved = kind.Refusal(), true
		default:
			v.recordError(err)
		}
		return v, nil
	}
	v.Dropped = req.Dropped()
	v.Request, v.engine = req, s.views[0].engine
	for _, view := range s.views {
		req := v.Request
		if view.mutator != s.Mutator() {
			if req, err = v.prepare(ctx, s.Cluster(), in, view.mutator); err != nil {
				v.recordError(err)
				continue
			}
		}
		out := view.engine.EvaluateBut(ctx, req, view.settled(other, req))
		v.add(out, len(s.views) > 1)
		if out.Refusal != nil && !view.Cluster.Knows(kinds.Namespace) {
			v.Unknown = fmt.Errorf("look up namespace %q: %w", req.GetNamespace(), out.Refusal)
		} else if out.Refusal != nil {
			v.recordError(out.Refusal)
		}
	}
	err = req.OverQuota()
	if err == nil {
		err = req.TooLarge()
	}
	if err != nil && !errors.As(err, &v.NotStored) {
		v.QuotaUnknown = err
	}
	v.exists = req.Exists()
	return v, ctx.Err()
}

// prepare processes a request up to the validating policies, with a mutator that changes its object.
func (v *Verdict) prepare(ctx context.Context, cluster *admission.Cluster, in admission.ClientRequest, mutator admission.Mutator) (*admission.Request, error) {
	if err := cluster.Authorize(ctx, in); err != nil {
		return nil, err
	}
	var recorder mutation.Recorder
	if main := in.Main(); mutator != nil && main != nil && !kinds.IsPolicy(main.GroupVersionKind().GroupKind()) { // no policy changes these
		recorder.Mutator = mutator
		in.Mutator = &recorder
	}
	req, warnings, err := cluster.Prepare(ctx, in)
	for _, w := range warnings {
		if v.Request == nil || !slices.Contains(v.Warnings, w) { // skip those of another view
			v.Warnings = append(v.Warnings, w)
		}
	}
	if v.Request == nil {
		v.Mutations, v.RefusedBy, v.Binding = recorder.Writes, recorder.Failed, recorder.Binding
	}
	return req, err
}

// recordError records why a request did not reach the policies.
func (v *Verdict) recordError(err error) {
	if !errors.As(err, &v.Refusal) && !errors.As(err, &v.NeverStored) {
		v.Unknown = err
	}
}

// add adds the outcome of the policies of a view.
func (v *Verdict) add(out policy.Outcome, several bool) {
	v.Evaluations += out.Evaluations
	v.Indeterminate = append(v.Indeterminate, out.Indeterminate...)
	for _, d := range out.Decisions {
		if !several || !policy.ContainsDecision(v.Decisions, d) {
			v.Decisions = append(v.Decisions, d)
		}
	}
	for key, value := range out.AuditAnnotations {
		if v.AuditAnnotations == nil {
			v.AuditAnnotations = map[string]string{}
		}
		v.AuditAnnotations[key] = value
	}
}
