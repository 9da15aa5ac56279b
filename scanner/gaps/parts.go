package gaps

import (
	"context"
	"fmt"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/target"
)

// RefusedPolicy is a policy or binding that an API server would not accept.
type RefusedPolicy struct {
	policy.Refusal
	Key admission.Key
	// Root is the root, or the part of a root, with the object.
	Root   render.RootID
	Status report.Status
}

// Parts returns the policies and bindings of refused roots that an API server would not accept.
// Such a root stays indeterminate, but whether a policy is accepted hardly depends on the overlay,
// so the parts of the root that can be rendered are sufficient. Nothing else is judged by parts.
func (l *Ledger) Parts(ctx context.Context, targets []*target.Target) ([]RefusedPolicy, error) {
	head := l.Head.PoliciesOfParts(ctx, l.RefusedRoots(l.Head, true))
	var base []*admission.Object
	if l.Base != nil && len(head) > 0 {
		// Another root may have had them, touched or not.
		base = l.Base.PoliciesOfParts(ctx, l.RefusedRoots(l.Base, false))
		base = append(base, l.Base.RenderedPolicies()...)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("judge parts of refused roots: %w", err)
	}
	head = slices.DeleteFunc(head, func(o *admission.Object) bool {
		return slices.ContainsFunc(base, func(other *admission.Object) bool { return change.Equal(o, other) })
	})
	if len(head) == 0 {
		return nil, nil
	}
	return refusedParts(ctx, targets, base, head), nil
}

// refusedParts returns the policies in head that the clusters of targets refuse, each object once,
// since several targets and roots may share a part.
func refusedParts(ctx context.Context, targets []*target.Target, base, head []*admission.Object) []RefusedPolicy {
	var all []RefusedPolicy
	seen := map[*admission.Object]bool{}
	for _, t := range targets {
		cluster := t.Head.Cluster
		_, refusals := policy.Load(ctx, cluster, t.User, head)
		_, before := policy.Load(ctx, cluster, t.User, base)
		for _, refusal := range refusals {
			if seen[refusal.Object] {
				continue
			}
			seen[refusal.Object] = true
			r := RefusedPolicy{refusal, cluster.Key(refusal.Object), change.OriginOf(refusal.Object).Root.RootID, report.StatusNew}
			if slices.ContainsFunc(before, func(old policy.Refusal) bool {
				return cluster.Key(old.Object) == r.Key && old.Message == refusal.Message
			}) {
				r.Status = report.StatusExisting
			}
			all = append(all, r)
		}
	}
	return all
}
