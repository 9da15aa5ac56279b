package scanner

import (
	"cmp"
	"context"
	"net/http"
	"regexp"
	"slices"

	v1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiserver "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/admission/apply"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/server"
	"github.com/preadmit/preadmit/scanner/target"
)

// recreation is when a tool deletes an object and creates it again instead of updating it.
type recreation int

const (
	never recreation = iota
	// whenRefused means if the server refuses the update because of an immutable field.
	whenRefused
	always
)

// chooseApplier sets the applier for the request and returns when the object is recreated, from the tool's options
// in the object's metadata and its deployer's spec:
//   - Flux: spec.force of the Kustomization, or the annotation or label
//     kustomize.toolkit.fluxcd.io/force: enabled before or after the change
//     (github.com/fluxcd/pkg/ssa, shouldForceApply);
//   - Argo CD: the sync options Replace=true, Force=true and ServerSideApply=true of the object or
//     its Application, the former two also as they were before (gitops-engine, pkg/sync, applyObject).
//     A replaced object is created without the last-applied-configuration annotation.
//
// If the applier is only assumed, such metadata determines the tool.
func (r *review) chooseApplier() recreation {
	option := func(name string) bool { return change.SyncOption(r.from, r.Object(), name) }
	argo := r.applier == apply.ArgoCD || r.applier == apply.ArgoCDSSA
	if argo && option("ServerSideApply") {
		r.applier = apply.ArgoCDSSA
	}
	before := cmp.Or(r.Live, r.Base)
	either := func(name string) bool {
		return option(name) || before != nil && change.SyncOption(r.from, before, name)
	}
	replaces, forces := either("Replace"), either("Force")
	argo = argo || r.assumed && (replaces || forces)
	switch {
	case r.Operation() == apiserver.Create && argo && replaces:
		r.applier, r.assumed = apply.LenientReplace, false
	case r.Operation() != apiserver.Update:
	case argo && replaces:
		r.applier, r.assumed = apply.LenientReplace, false
		if forces {
			return always
		}
	case argo && forces && r.applier != apply.ArgoCDSSA:
		r.applier, r.assumed = apply.ArgoCD, false
		return whenRefused
	case r.applier == apply.Flux && (change.IsForced(r.from, r.Head) || change.IsForced(r.from, before)):
		r.assumed = false
		return whenRefused
	}
	return never
}

// immutableField matches messages that Flux treats as the refusal of a change of an immutable field although the server
// itself did not send them (github.com/fluxcd/pkg/ssa/errors, IsImmutableError).
var immutableField = regexp.MustCompile(`is\simmutable|immutable\sfield`)

// isImmutable reports whether a tool may treat the response to an update as the refusal of a change of an immutable
// field. Tools do so for every response with the reason Invalid or Conflict, which includes denials by policies
// that set no other reason (k8s.io/kubectl/pkg/cmd/apply, patcher.Patch).
func (r *review) isImmutable(v *server.Verdict) bool {
	if v.Refusal != nil {
		return isInvalid(v.Refusal.ErrStatus.Code)
	}
	immutable, _ := r.firstDenials(v)
	return len(immutable) > 0
}

// firstDenials returns the denials that a server may respond with: those for which a tool recreates the object, and the
// others. A server responds with the first denial of one policy, binding and param; which of these comes first is
// random (k8s.io/apiserver/pkg/admission/plugin/policy/validating, Dispatch).
func (r *review) firstDenials(v *server.Verdict) (immutable, others []policy.Decision) {
	type source struct {
		policy  *policy.Policy
		binding *policy.Binding
		param   *admission.Object
	}
	seen := map[source]bool{}
	for _, d := range v.Decisions {
		by := source{d.Policy, d.Binding, d.Param}
		if !d.Denies() || seen[by] {
			continue
		}
		seen[by] = true
		response := v.ResponseTo(d)
		if isInvalid(response.Code) || r.applier == apply.Flux && immutableField.MatchString(response.Message) {
			immutable = append(immutable, d)
		} else {
			others = append(others, d)
		}
	}
	return immutable, others
}

// notRecreated returns the part of the response to an update after which a tool does not recreate the object: of a
// response that it may treat as the refusal of a change of an immutable field, the denials for other reasons and the
// policies that may deny for others; any other response as a whole.
func (r *review) notRecreated(v server.Verdict) server.Verdict {
	switch {
	case !r.isImmutable(&v):
		return v
	case v.Refusal != nil:
		return server.Verdict{}
	}
	_, v.Decisions = r.firstDenials(&v)
	v.Indeterminate = slices.DeleteFunc(slices.Clone(v.Indeterminate), func(i policy.Indeterminate) bool { return !hasOtherReason(i.Policy) })
	return v
}

// hasOtherReason reports whether a policy may have a validation with a reason after which a tool does not recreate an
// object.
func hasOtherReason(p *policy.Policy) bool {
	return len(p.Source.Unknown) > 0 || slices.ContainsFunc(p.Spec.Validations, func(v v1.Validation) bool {
		return v.Reason != nil && *v.Reason != "" && *v.Reason != metav1.StatusReasonInvalid && *v.Reason != metav1.StatusReasonConflict
	})
}

// recreateRefused judges an update that is refused because of an immutable field: the requests that recreate the
// object, and the update as far as a tool does not recreate it, where other policies deny it for other reasons, or where
// only the policies in force or only the proposed ones refuse it because of an immutable field. The warnings of the
// server are those about the creation.
func (r *review) recreateRefused(ctx context.Context, inForce, final server.Verdict) error {
	r.capture(&final, string(r.Operation()), nil)
	before, err := r.judgeBefore(ctx, r.Before, nil)
	if err != nil {
		return err
	}
	now, next := r.notRecreated(inForce), r.notRecreated(final)
	for _, v := range []*server.Verdict{&now, &next, before} {
		v.Warnings, v.Dropped = nil, nil
	}
	switch {
	case !r.isImmutable(&final):
		r.server(next, before)
	case !r.isImmutable(&inForce):
		r.server(now, before)
	}
	r.decisions(now, next, before)
	return r.recreate(ctx)
}

// isInvalid reports whether the code of a response means that an object is invalid or in conflict.
func isInvalid(code int32) bool {
	return code == http.StatusConflict || code == http.StatusUnprocessableEntity
}

// recreate judges the requests of a tool that deletes the object and creates it again.
func (r *review) recreate(ctx context.Context) error {
	return r.instead(ctx, target.Pair{Key: r.Key, Base: cmp.Or(r.Base, r.Live), Live: r.Live}, r.creation())
}

// creation returns the pair for creating the object after its deletion.
func (r *review) creation() target.Pair {
	return target.Pair{Key: r.Key, Base: r.Base, Head: r.Head, Generated: true}
}

// instead judges the given pairs in place of the review's own pair.
func (r *review) instead(ctx context.Context, pairs ...target.Pair) error {
	for _, p := range pairs {
		next := &review{RootReview: r.RootReview, Pair: p, from: r.from, user: r.user, was: r.was, applier: r.applier, versioned: r.versioned, Capture: r.Capture}
		next.out.requests = 1
		err := next.changed(ctx)
		r.out.add(next.out)
		if err != nil {
			return err
		}
	}
	return nil
}

// mayBeGone reports whether an update is refused because of an immutable field although the cluster may already
// have deleted the object: a finished Job, after its ttlSecondsAfterFinished.
func (r *review) mayBeGone(final server.Verdict) bool {
	return r.Operation() == apiserver.Update && r.Live == nil && target.Expires(r.Base) &&
		final.Refusal != nil && immutableField.MatchString(final.Refusal.ErrStatus.Message)
}
