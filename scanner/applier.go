package scanner

import (
	"context"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiserver "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/admission/apply"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/gaps"
	"github.com/preadmit/preadmit/scanner/server"
	"github.com/preadmit/preadmit/scanner/target"
)

// verdicts returns the verdicts of the policies in force and of the proposed ones on the request.
func (r *review) verdicts(ctx context.Context) (inForce, proposed server.Verdict, err error) {
	inForce, err = r.InForce.Review(ctx, r.ask())
	if err != nil || r.Proposed == r.InForce {
		return inForce, inForce, err
	}
	proposed, err = r.Proposed.Review(ctx, r.ask())
	return inForce, proposed, err
}

// appliedVerdicts is verdicts for an applier that may be assumed. Server-side apply keeps what no
// manifest writes, such as rollingUpdate of a Deployment whose strategy becomes Recreate, and the
// server may refuse what comes of it. Where nobody says which tool applies the object, and the
// server takes it from a tool that replaces it, that refusal is not certain: the request is judged
// as that tool makes it, and the report says so.
func (r *review) appliedVerdicts(ctx context.Context) (inForce, proposed server.Verdict, err error) {
	inForce, proposed, err = r.verdicts(ctx)
	if err != nil || !r.assumed || r.Operation() != apiserver.Update || proposed.Refusal == nil {
		return inForce, proposed, err
	}
	assumed := r.applier
	r.applier = apply.LenientReplace
	inForceReplaced, replaced, err := r.verdicts(ctx)
	if err != nil || !replaced.Reached() {
		r.applier = assumed
		return inForce, proposed, err
	}
	r.indeterminate(gaps.Object, "", "the API server would refuse it ("+proposed.Refusal.ErrStatus.Message+
		") from Flux and others that use server-side apply, which keeps what the manifest no longer writes, but not from a tool that replaces it; say with --applier which tool applies it")
	return inForceReplaced, replaced, nil
}

// notApplied returns why the tool fails to apply an object, in its words: Flux names no namespace in the
// request where the manifest does not, and the server does not find what it asks for
// (github.com/fluxcd/pkg/ssa/errors). It is nil for an object that is applied, or of a kind of which is
// not known whether it is in namespaces, and where there is no object.
func (r *review) notApplied(by *server.Server, o *admission.Object) *apierrors.StatusError {
	if o == nil || !change.LacksNamespace(o) {
		return nil
	}
	kind, served := by.Cluster().Resource(o.GroupVersionKind())
	if !served || !kind.Namespaced {
		return nil
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
		Message: fmt.Sprintf("%s/%s namespace not specified: the server could not find the requested resource", kind.Kind.Kind, o.Name()),
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Field: "metadata.namespace"}}},
	}}
}

// applies reports whether the tool makes a request for the object. Where it fails to, that is reported,
// and what it failed to apply at base was never there.
func (r *review) applies() bool {
	now, then := r.notApplied(r.Proposed, r.Head), r.notApplied(r.Before, r.Base)
	switch {
	case then == nil:
	case r.Head == nil:
		r.out.requests = 0
		return false
	case now == nil:
		key := r.Key
		key.Namespace = ""
		r.resolve(refused(target.Pair{Key: key, Head: r.Base}, then))
		r.Base = nil
	default:
		r.Base = nil
	}
	if now == nil {
		return true
	}
	r.Key.Namespace, r.answered = "", nil
	v := server.Verdict{Refusal: now}
	r.capture(&v, string(r.Operation()), nil)
	r.add(refused(r.Pair, now), then != nil)
	return false
}
