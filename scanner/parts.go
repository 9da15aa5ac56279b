package scanner

import (
	"context"
	"fmt"
	"slices"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/lines"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/target"
)

// judgeParts checks the policies and bindings of roots that are refused. Such a
// root stays indeterminate, but whether an API server would accept a policy
// hardly depends on the overlay: what can be rendered of the root is enough to
// tell. Nothing else is judged by parts.
func (s *scan) judgeParts(ctx context.Context) error {
	head := s.Head.PoliciesOfParts(ctx, s.RefusedRoots(s.Head, true))
	var base []*admission.Object
	if s.Base != nil && len(head) > 0 {
		// Another root may have had them, touched or not.
		base = s.Base.PoliciesOfParts(ctx, s.RefusedRoots(s.Base, false))
		base = append(base, s.Base.RenderedPolicies()...)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("judge parts of refused roots: %w", err)
	}
	head = slices.DeleteFunc(head, func(o *admission.Object) bool {
		return slices.ContainsFunc(base, func(other *admission.Object) bool { return change.Equal(o, other) })
	})
	if len(head) == 0 {
		return nil
	}
	for _, t := range s.targets {
		_, refusals := policy.Load(ctx, t.Head.Cluster, t.User, head)
		_, before := policy.Load(ctx, t.Head.Cluster, t.User, base)
		for _, refusal := range refusals {
			s.addPartRefusal(t, refusal, before)
		}
	}
	return nil
}

// addPartRefusal reports a refused policy of a part.
func (s *scan) addPartRefusal(t *target.Target, refusal policy.Refusal, before []policy.Refusal) {
	if s.hasFinding(refusal) {
		return
	}
	p := target.Pair{Key: t.Head.Cluster.Key(refusal.Object), Head: refusal.Object}
	f := malformed(p, refusal)
	f.Root, f.Status = change.OriginOf(refusal.Object).Root.Dir, report.StatusNew
	for _, old := range before {
		if t.Head.Cluster.Key(old.Object) == p.Key && old.Message == refusal.Message {
			f.Status = report.StatusExisting
		}
	}
	s.add(f)
}

// hasFinding: several targets and roots may share a part.
func (s *scan) hasFinding(refusal policy.Refusal) bool {
	return slices.ContainsFunc(s.findings, func(f lines.Finding) bool { return f.Subject == refusal.Object })
}
