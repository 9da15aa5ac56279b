package scanner

import (
	"context"
	"fmt"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy"
)

// judgeParts checks the policies and bindings of roots that are refused. Such a
// root stays indeterminate, but whether an API server would accept a policy
// hardly depends on the overlay: what can be rendered of the root is enough to
// tell. Nothing else is judged by parts.
func (s *scan) judgeParts(ctx context.Context) error {
	head := s.head.policiesOfParts(ctx, s.refusedRoots(s.head, true))
	var base []*admission.Object
	if s.base != nil && len(head) > 0 {
		// Another root may have had them, touched or not.
		base = s.base.policiesOfParts(ctx, s.refusedRoots(s.base, false))
		base = append(base, s.base.renderedPolicies()...)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("judge parts of refused roots: %w", err)
	}
	head = slices.DeleteFunc(head, func(o *admission.Object) bool {
		return slices.ContainsFunc(base, func(other *admission.Object) bool { return equalObjects(o, other) })
	})
	if len(head) == 0 {
		return nil
	}
	for _, t := range s.targets {
		_, refusals := policy.Load(ctx, t.head.cluster, t.user, head)
		_, before := policy.Load(ctx, t.head.cluster, t.user, base)
		for _, refusal := range refusals {
			s.addPartRefusal(t, refusal, before)
		}
	}
	return nil
}

// addPartRefusal reports a refused policy of a part.
func (s *scan) addPartRefusal(t *target, refusal policy.Refusal, before []policy.Refusal) {
	if s.hasFinding(refusal) {
		return
	}
	p := pair{key: t.head.cluster.Key(refusal.Object), head: refusal.Object}
	f := p.malformed(refusal)
	f.Root, f.Status = originOf(refusal.Object).root.Dir, report.StatusNew
	for _, old := range before {
		if t.head.cluster.Key(old.Object) == p.key && old.Message == refusal.Message {
			f.Status = report.StatusExisting
		}
	}
	s.add(f)
}

// hasFinding: several targets and roots may share a part.
func (s *scan) hasFinding(refusal policy.Refusal) bool {
	return slices.ContainsFunc(s.findings, func(f found) bool { return f.object == refusal.Object })
}

// refusedRoots are the selected roots of a side, all or just those the change
// touches, that were not rendered because they would need a network, a program or
// too much. Without a base the change is everything.
func (s *scan) refusedRoots(from *side, touched bool) []render.Root {
	var roots []render.Root
	for _, root := range from.found.Roots {
		r := from.roots[from.id(root)]
		if touched && s.base != nil && !s.touched[from.id(root)] {
			continue
		}
		if s.selected(root.Dir) && r != nil && r.Problem != nil && r.Problem.Kind == render.ProblemRefused {
			roots = append(roots, root)
		}
	}
	return roots
}

// policiesOfParts are the policies and bindings in what can be rendered of roots,
// but for those that a rendered root has.
func (s *side) policiesOfParts(ctx context.Context, roots []render.Root) []*admission.Object {
	var policies []*admission.Object
	seen := map[render.RootID]bool{}
	for _, root := range roots {
		if s.refuses(root) {
			continue
		}
		for _, part := range s.renderer.Parts(root) {
			if !seen[part.RootID] {
				seen[part.RootID] = true
				policies = append(policies, onlyPolicies(s.render(ctx, part).objects)...)
			}
		}
	}
	rendered := s.renderedPolicies()
	return slices.DeleteFunc(policies, func(o *admission.Object) bool {
		return slices.ContainsFunc(rendered, func(r *admission.Object) bool { return equalObjects(r, o) })
	})
}

// renderedPolicies are the policies and bindings of the roots that rendered.
func (s *side) renderedPolicies() []*admission.Object {
	var policies []*admission.Object
	for _, root := range s.found.Roots {
		if r := s.roots[s.id(root)]; r != nil {
			policies = append(policies, onlyPolicies(r.objects)...)
		}
	}
	return policies
}

func onlyPolicies(objects []*admission.Object) []*admission.Object {
	var policies []*admission.Object
	for _, o := range objects {
		if policy.IsPolicy(o) {
			policies = append(policies, o)
		}
	}
	return policies
}
