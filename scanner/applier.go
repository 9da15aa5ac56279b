package scanner

import (
	"context"

	apiserver "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/scanner/admission/apply"
	"github.com/preadmit/preadmit/scanner/gaps"
	"github.com/preadmit/preadmit/scanner/server"
)

// verdicts returns what the policies in force and the proposed ones say of the request.
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
