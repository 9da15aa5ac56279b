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

// UnrenderedPolicies adds roots that do not render and may hold policies and bindings. The change
// need not touch them: if it makes any requests, the verdicts of these policies are missing.
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

// unrenderedPolicies does this for a root of one tree, unless the root is in unjudged.
func (l *Ledger) unrenderedPolicies(from *change.Side, root render.Root) {
	r := from.Roots[from.ID(root)]
	if r == nil || r.Problem == nil || l.unjudged[r.ID] || !mayHoldPolicies(from, r) {
		return
	}
	gap, _ := r.Gap()
	gap.Kind = Policy
	gap.Hides = []schema.GroupKind{kinds.Policy, kinds.Binding, kinds.Mutation, kinds.MutationBinding}
	gap.Why = "policies and bindings that this root may contain were not evaluated, because it does not render: " + gap.Why
	l.Add(Gap{Gap: gap, Tree: from.Name})
}

// mayHoldPolicies reports whether a root that does not render may hold policies. It searches the
// text of the files that the root reads, and of those in its directory, since it may not be known
// which files it reads. It ignores what remote bases, plugins and variables may add: nearly all add
// something else, and otherwise every change would have gaps.
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
