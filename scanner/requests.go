package scanner

import (
	"context"
	"path"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	apiserver "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/controllers"
	"github.com/preadmit/preadmit/scanner/gaps"
	"github.com/preadmit/preadmit/scanner/target"
)

// applied returns the root at head, or at base if it is gone.
func applied(base, head *change.Rendered) render.Root {
	if head != nil {
		return head.Root
	}
	return base.Root
}

// reviews returns the requests of the roots of a target, and adds to out what is known before they
// are decided.
func (s *scan) reviews(ctx context.Context, c *target.Servers, out *outcome) (reviewed []*review, err error) {
	reviews, roots := []*review{}, []*target.RootReview{}
	moved := c.FindMoves(s.Change)
	for _, m := range moved.Unsure {
		s.ledger.Move(m)
	}
	for _, r := range moved.Replaced {
		s.ledger.Replaced(r)
	}
	for _, root := range c.Target.Roots {
		base, head, ok := s.Sides(root)
		if !ok || base == head && len(c.Target.Changed) == 0 {
			continue
		}
		h := c.Review(ctx, root)
		h.Workloads = s.in.Config.Workloads == nil || *s.in.Config.Workloads
		if base == head && !h.Reach.Any {
			continue
		}
		pairs := moved.Pairs(root, h.InForce.Cluster(), c.Target.Base.Applied(base), c.Target.Head.Applied(head))
		pairs = c.Target.UpdatesOf(target.Reinstall(s.Change, base, head, pairs))
		from := applied(base, head)
		pairs = c.Target.WithLive(target.LeaveIgnored(base, head, target.Resume(base, head, pairs)))
		pairs = target.WithHooks(s.Change, h.InForce.Cluster(), base, head, target.Requests(s.Change, base, head, pairs))
		user := c.Target.UserOf(from)
		pairs = c.NoteUsers(s.Change, h, pairs, user)
		pairs = slices.DeleteFunc(pairs, func(p target.Pair) bool { return !h.Concerns(p) })
		if pairs, err = s.selectedPairs(ctx, root, pairs); err != nil {
			return nil, err
		}
		by, assumed := c.Target.ApplierOf(from)
		versioned := len(chartVersions(base, head)) > 0
		for _, p := range pairs {
			by, assumed := target.AppliedBy(p.Live, by, assumed)
			reviews = append(reviews, &review{versioned: versioned, RootReview: h, Pair: p, from: from, user: user, was: c.Target.UserBefore(p, user), applier: by, assumed: assumed, Capture: s.in.Capture, answered: s.answered(c.Target)})
		}
		out.remarks = append(out.remarks, gaps.DeletedNamespaces(c.Target, root, pairs)...)
		if len(pairs) > 0 {
			roots = append(roots, h)
			out.rules.judgedBy(h)
			s.ledger.Ambiguities(c.Target, root, pairs)
			s.ledger.Deploying(c.Target, pairs)
			s.ledger.AssumedNamespace(c.Target, root, pairs)
			s.ledger.NoDefinition(h.Proposed, root, pairs)
		}
	}
	out.refused(s.ledger.Refusals(roots))
	return reviews, nil
}

// selectedPairs returns the pairs of a root that the user selected: all of them, or those written in the
// named files. If no object of the root is written in a named file, such as a patch or values, or
// if the file decides objects that are written elsewhere, it may decide all of them.
func (s *scan) selectedPairs(ctx context.Context, root render.RootID, pairs []target.Pair) ([]target.Pair, error) {
	files := s.NamedBy(root)
	if len(files) == 0 || slices.ContainsFunc(files, func(name string) bool { return s.DecidesOthers(root, name) }) {
		return pairs, nil
	}
	base, head, _ := s.Sides(root)
	written, err := s.writtenIn(ctx, slices.Concat(base.All(), head.All()))
	if err != nil {
		return nil, err
	}
	places := map[string]bool{}
	for _, place := range written {
		places[place] = true
	}
	if slices.ContainsFunc(files, func(name string) bool { return !places[name] }) {
		return pairs, nil
	}
	isSelected := func(o *admission.Object) bool {
		place, known := written[o]
		return o != nil && (!known || slices.Contains(files, place)) // unknown places may be in the files
	}
	return slices.DeleteFunc(slices.Clone(pairs), func(p target.Pair) bool { return !isSelected(p.Head) && !isSelected(p.Base) }), nil
}

// writtenIn returns the files that objects are written in, for the objects where that is known.
func (s *scan) writtenIn(ctx context.Context, objects []*admission.Object) (map[*admission.Object]string, error) {
	files := map[*admission.Object]string{}
	for _, o := range objects {
		place, err := s.locator.Place(ctx, o, nil)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			files[o] = path.Clean(place.Path)
		}
	}
	return files, nil
}

// requestKinds returns the kinds of requests that reviews make, including those of controllers.
func requestKinds(reviews []*review) map[gaps.RequestKind]bool {
	all := map[gaps.RequestKind]bool{}
	for _, r := range reviews {
		kind := r.Object().GroupVersionKind()
		resource := schema.GroupResource{Group: kind.Group}
		if served, ok := r.Proposed.Cluster().Resource(kind); ok {
			resource = served.GroupResource()
		}
		all[gaps.RequestKind{GroupResource: resource, Operation: r.Operation()}] = true
		if r.Head == nil || !r.Workloads {
			continue
		}
		for _, created := range controllers.GeneratedBy(kind.GroupKind()) {
			all[gaps.RequestKind{GroupResource: created, Operation: apiserver.Create}] = true
		}
	}
	return all
}
