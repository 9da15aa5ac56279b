package change

import (
	"context"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// RenderedPolicies returns the policies and bindings of the roots that rendered.
func (s *Side) RenderedPolicies() []*admission.Object {
	var policies []*admission.Object
	for _, root := range s.Found.Roots {
		if r := s.Roots[s.ID(root)]; r != nil {
			policies = append(policies, OnlyPolicies(r.Objects)...)
		}
	}
	return policies
}

// PoliciesOfParts returns the policies and bindings in the parts of roots that can be rendered,
// without those that a rendered root has.
func (s *Side) PoliciesOfParts(ctx context.Context, roots []render.Root) []*admission.Object {
	var policies []*admission.Object
	seen := map[render.RootID]bool{}
	for _, root := range roots {
		if s.Refuses(root) {
			continue
		}
		for _, part := range s.Renderer.Parts(root) {
			if !seen[part.RootID] && s.MayHoldPolicies(part) {
				seen[part.RootID] = true
				policies = append(policies, OnlyPolicies(s.Render(ctx, part).Objects)...)
			}
		}
	}
	rendered := s.RenderedPolicies()
	return slices.DeleteFunc(policies, func(o *admission.Object) bool {
		return slices.ContainsFunc(rendered, func(r *admission.Object) bool { return Equal(r, o) })
	})
}

// MayHoldPolicies reports whether a root may have policies or bindings, by the text of its files.
// It is false only if that is certain.
func (s *Side) MayHoldPolicies(root render.Root) bool {
	return s.Renderer.MayHold(s.Renderer.Needs(root), PolicyMentions()...)
}

// PolicyMentions returns the group and kinds of policies and bindings.
func PolicyMentions() []render.Mention {
	return []render.Mention{
		{Group: kinds.GroupAdmission, Kind: kinds.Policy.Kind},
		{Group: kinds.GroupAdmission, Kind: kinds.Binding.Kind},
		{Group: kinds.GroupAdmission, Kind: kinds.Mutation.Kind},
		{Group: kinds.GroupAdmission, Kind: kinds.MutationBinding.Kind},
	}
}

// OnlyPolicies returns the policies and bindings among objects.
func OnlyPolicies(objects []*admission.Object) []*admission.Object {
	var policies []*admission.Object
	for _, o := range objects {
		if kinds.IsPolicy(o.GroupVersionKind().GroupKind()) {
			policies = append(policies, o)
		}
	}
	return policies
}
