package scanner

import (
	"cmp"
	"context"
	"net/http"
	"regexp"

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
	immutable, _ := r.denialsOf(v)
	return len(immutable) > 0
}

// denialsOf returns the denials that a server may respond with: those for which a tool recreates the object, and the
// others. A server responds with the first denial of one policy, binding and param; which of these comes first is
// random (k8s.io/apiserver/pkg/admission/plugin/policy/validating, Dispatch).
func (r *review) denialsOf(v *server.Verdict) (immutable, others []policy.Decision) {
	type source struct {
		policy  *policy.Policy
		binding *policy.Binding
		param   *admission.Object
	}
	seen, responses := map[source]bool{}, v.Denials()
	for _, d := range v.Decisions {
		if !d.Denies() {
			continue
		}
		response := responses[0]
		responses = responses[1:]
		by := source{d.Policy, d.Binding, d.Param}
		switch {
		case seen[by]:
		case isInvalid(response.Code), r.applier == apply.Flux && immutableField.MatchString(response.Message):
			immutable = append(immutable, d)
		default:
			others = append(others, d)
		}
		seen[by] = true
	}
	return immutable, others
}

// refusedOtherwise returns the part of the response to an update after which a tool does not recreate the object:
// another refusal, or the denials for other reasons. ok is false if there is no such part.
func (r *review) refusedOtherwise(v server.Verdict) (rest server.Verdict, ok bool) {
	if v.Refusal != nil {
		return v, !isInvalid(v.Refusal.ErrStatus.Code)
	}
	_, v.Decisions = r.denialsOf(&v)
	v.Warnings, v.Dropped = nil, nil
	return v, len(v.Decisions) > 0
}

// recreateRefused judges an update that is refused because of an immutable field: the requests that recreate the
// object, and the refusals for other reasons, by the policies in force, by the proposed ones, or by another policy.
func (r *review) recreateRefused(ctx context.Context, inForce, final server.Verdict) error {
	r.capture(&final, string(r.Operation()), nil)
	now, isRefused := r.refusedOtherwise(inForce)
	next, willBeRefused := r.refusedOtherwise(final)
	if isRefused || willBeRefused {
		before, err := r.judgeBefore(ctx, r.Before, nil)
		if err != nil {
			return err
		}
		switch {
		case !isRefused:
			now = server.Verdict{}
		case !willBeRefused:
			next = now
		}
		r.server(next, before)
		r.decisions(now, next, before)
	}
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
