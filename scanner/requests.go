package scanner

import (
	"context"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/target"
)

// applied is a root as it is applied now, or was when it is gone.
func applied(base, head *change.Rendered) render.Root {
	if head != nil {
		return head.Root
	}
	return base.Root
}

// reviews returns the requests that a target's roots make, and adds to out what is known
// before they are decided.
func (s *scan) reviews(ctx context.Context, c *target.Servers, out *outcome) []*review {
	reviews, reviewed := []*review{}, []*target.RootReview{}
	moved := c.FindMoves(s.Change)
	for _, m := range moved.Unsure {
		s.ledger.Move(m)
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
		pairs := target.Resume(base, head, moved.Pairs(root, h.InForce.Cluster(), base.All(), head.All()))
		pairs = slices.DeleteFunc(target.Requests(s.Change, base, head, pairs), func(p target.Pair) bool { return !h.Concerns(p) })
		user := c.Target.UserOf(applied(base, head))
		for _, p := range pairs {
			reviews = append(reviews, &review{RootReview: h, Pair: p, user: user, Capture: s.in.Capture})
		}
		if len(pairs) > 0 {
			reviewed = append(reviewed, h)
			out.rules.judgedBy(h)
			s.ledger.Ambiguities(c.Target, root, pairs)
			s.ledger.Deploying(c.Target, pairs)
			s.ledger.AssumedNamespace(c.Target, root, pairs)
			s.ledger.NoDefinition(h.Proposed, root, pairs)
		}
	}
	out.refused(s.ledger.Refusals(reviewed))
	return reviews
}
