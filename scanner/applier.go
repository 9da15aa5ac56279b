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
	inForce, err = r.InForce.Review(ctx, r.request())
	if err != nil || r.Proposed == r.InForce {
		return inForce, inForce, err
	}
	proposed, err = r.Proposed.Review(ctx, r.request())
	return inForce, proposed, err
}

// appliedVerdicts returns the verdicts like verdicts, but falls back to another applier if the applier
// is only assumed. Server-side apply keeps fields that the new manifest no longer writes, such as
// rollingUpdate of a Deployment whose strategy becomes Recreate, and the server may refuse the merged
// object. If the applier is assumed, and the server accepts the object from a tool that replaces it,
// that refusal is not certain: the request is judged as a replacement, and the report states that.
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

// notApplied returns the error with which the tool fails to apply an object: if the manifest has no
// namespace, Flux sends a request without one, and the server answers 404
// (github.com/fluxcd/pkg/ssa/errors). It returns nil if the object is applied, if it is not known
// whether its kind is namespaced, and if o is nil.
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

// applies reports whether the tool makes a request for the object. If the tool fails to apply it,
// applies reports that. An object of the base that was not applied is treated as absent.
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
