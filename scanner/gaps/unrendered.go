package gaps

import (
	"io/fs"
	"maps"
	"path"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// UnrenderedPolicies adds policies and bindings that decided nothing, because
// their roots do not render. The change may touch none of them: as soon as it makes
// requests, it is not known what they would say.
func (l *Ledger) UnrenderedPolicies(requests int) {
	if l.Base == nil || requests == 0 {
		return
	}
	for _, root := range l.Head.Found.Roots {
		l.unrenderedPolicies(l.Head, root)
	}
	for _, root := range l.Gone() {
		l.unrenderedPolicies(l.Base, root)
	}
}

// unrenderedPolicies does so for a root of one tree, unless the root as a whole is known
// not to be judged.
func (l *Ledger) unrenderedPolicies(from *change.Side, root render.Root) {
	r := from.Roots[from.ID(root)]
	if r == nil || r.Problem == nil || l.unjudged[r.ID] || !mayHoldPolicies(from, r) {
		return
	}
	gap, _ := r.Gap()
	gap.Kind = Policy
	gap.Hides = []schema.GroupKind{kinds.Policy, kinds.Binding, kinds.Mutation, kinds.MutationBinding}
	gap.Why = "policies and bindings that this root may hold were not asked, because it does not render: " + gap.Why
	l.Add(Gap{Gap: gap, Tree: from.Name})
}

// mayHoldPolicies reports whether a root that does not render may hold policies. It goes by
// the words of the files that a root that does not render reads,
// and of those in its directory, where it may be that what it reads is not known. What a
// remote base, a plugin or a variable might bring besides is left out of account: nearly
// all bring something else, and each would make every change one that was not judged.
func mayHoldPolicies(s *change.Side, r *change.Rendered) bool {
	in := s.Renderer.Needs(r.Root)
	if !s.Renderer.MayHold(in, change.PolicyMentions()...) {
		return false
	}
	names := slices.Collect(maps.Keys(in.Trace.Reads))
	entries, _ := fs.ReadDir(s.Files, r.Root.Dir) // it may be gone
	for _, e := range entries {
		names = append(names, path.Join(r.Root.Dir, e.Name()))
	}
	return slices.ContainsFunc(names, func(name string) bool { return kinds.FileMentionsPolicy(s.Files, name) })
}
