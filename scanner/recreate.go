package scanner

import (
	"cmp"
	"context"
	"net/http"
	"regexp"

	apiserver "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/scanner/admission/apply"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/server"
	"github.com/preadmit/preadmit/scanner/target"
)

// recreation says when a tool deletes an object and creates it again in place of an update.
type recreation int

const (
	never recreation = iota
	// whenRefused is when the server refuses the update for an immutable field.
	whenRefused
	always
)

// sendAs settles by which tool's request the object is updated, and when it is created anew, by
// what the object says to the tool that applies it:
//   - Flux: spec.force of the Kustomization, or the annotation or label
//     kustomize.toolkit.fluxcd.io/force: enabled before or after the change
//     (github.com/fluxcd/pkg/ssa, shouldForceApply);
//   - Argo CD: the sync options Replace=true, Force=true and ServerSideApply=true of the object or
//     its Application, the former two also as they were before (gitops-engine, pkg/sync, applyObject).
//     An object that is replaced is created without the annotation of what was last applied.
//
// Where nobody says which tool it is, such metadata does.
func (r *review) sendAs() recreation {
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

// immutable matches what Flux takes for the refusal of a change of an immutable field by
// something other than the server itself (github.com/fluxcd/pkg/ssa/errors, IsImmutableError).
var immutable = regexp.MustCompile(`is\simmutable|immutable\sfield`)

// isImmutable reports whether a tool takes the answers to an update for the refusal of a change of
// an immutable field: each that says that the object is invalid or in conflict, as policies do that
// give no other reason (k8s.io/kubectl/pkg/cmd/apply, patcher.Patch).
func (r *review) isImmutable(verdicts ...server.Verdict) bool {
	for _, v := range verdicts {
		if v.Refusal != nil {
			return isInvalid(v.Refusal.ErrStatus.Code)
		}
		for _, d := range v.Denials() {
			if isInvalid(d.Code) || r.applier == apply.Flux && immutable.MatchString(d.Message) {
				return true
			}
		}
	}
	return false
}

// isInvalid reports whether the code of an answer says that an object is invalid or in conflict.
func isInvalid(code int32) bool {
	return code == http.StatusConflict || code == http.StatusUnprocessableEntity
}

// recreate judges the requests of a tool that deletes the object and creates it anew.
func (r *review) recreate(ctx context.Context) error {
	return r.instead(ctx, target.Pair{Key: r.Key, Base: cmp.Or(r.Base, r.Live), Live: r.Live}, r.creation())
}

// creation is the request by which an object is created that the base has, once it is gone.
func (r *review) creation() target.Pair {
	return target.Pair{Key: r.Key, Base: r.Base, Head: r.Head, Generated: true}
}

// instead judges requests in place of the one that a pair stands for.
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

// mayBeGone reports whether an update is refused for an immutable field, unless the cluster has deleted the object
// by then: a Job that has finished, after its ttlSecondsAfterFinished.
func (r *review) mayBeGone(final server.Verdict) bool {
	return r.Operation() == apiserver.Update && r.Live == nil && target.Expires(r.Base) &&
		final.Refusal != nil && immutable.MatchString(final.Refusal.ErrStatus.Message)
}
