package scanner

import (
	"context"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/lines"
	"github.com/preadmit/preadmit/scanner/target"
)

// reviews are the requests a target's roots stand for.
func (s *scan) reviews(ctx context.Context, c *target.Servers) []*review {
	reviews, reviewed := []*review{}, []*target.RootReview{}
	moved := c.FindMoves(s.Change)
	for _, m := range moved.Unsure {
		s.noteMove(m)
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
		pairs := slices.DeleteFunc(moved.Pairs(root, h.InForce.Cluster(), base.All(), head.All()), func(p target.Pair) bool { return !h.Concerns(p) })
		for _, p := range pairs {
			reviews = append(reviews, &review{RootReview: h, Pair: p, user: c.Target.User})
		}
		if len(pairs) > 0 {
			reviewed = append(reviewed, h)
			s.notePolicies(h)
			s.noteAmbiguities(c.Target, root, pairs)
		}
	}
	s.noteRefusals(reviewed)
	return reviews
}

// notePolicies remembers the policies that judge.
func (s *scan) notePolicies(h *target.RootReview) {
	for _, p := range slices.Concat(h.InForce.Policies(), h.Proposed.Policies()) {
		s.policies[p.Name] = true
	}
}

// noteRefusals reports policies that take no effect on what was reviewed because an API
// server would not accept them, where they are no findings of their own: those given
// beside the trees are findings, those that did not change are mentioned.
func (s *scan) noteRefusals(reviewed []*target.RootReview) {
	told := map[string]bool{}
	for _, h := range reviewed {
		for _, refusal := range h.Refusals {
			o := refusal.Object
			id := o.GroupVersionKind().Kind + "/" + o.Name() + "/" + refusal.Message
			from := change.OriginOf(o).Side
			if told[id] || from == s.Base || s.Base == nil && !from.Extra {
				continue
			}
			told[id] = true
			key := admission.Key{Name: o.Name()}
			if from.Extra {
				f := malformed(target.Pair{Key: key, Head: o}, refusal)
				f.Status, f.Root = report.StatusNew, change.OriginOf(o).Root.Dir
				s.add(f)
			} else if !s.IsChanged(o) {
				s.unjudged = append(s.unjudged, unjudged{object: o, key: key, Indeterminate: report.Indeterminate{
					What: "policy", Policy: o.Name(), Root: change.OriginOf(o).Root.Dir,
					Why: "an API server would not accept this, so it takes no effect here, before the change as after it: " + refusal.Message,
				}})
			}
		}
	}
}

// collect takes over the outcome of a review.
func (s *scan) collect(r *review) {
	s.report.Summary.Requests += r.out.requests
	s.report.Summary.Evaluations += r.out.evaluations
	s.findings = append(s.findings, r.out.findings...)
	s.unjudged = append(s.unjudged, r.out.unjudged...)
	for _, f := range r.out.remarks {
		f.Root = r.Root.String()
		s.remarks = append(s.remarks, f)
	}
}

func (s *scan) add(f lines.Finding) { s.findings = append(s.findings, f) }

// noteMutations names what in the state would change requests on their way and is
// not simulated. Where nothing is judged there is nothing to say.
func (s *scan) noteMutations() {
	if s.report.Summary.Requests == 0 {
		return
	}
	names := []string{}
	for _, t := range s.targets {
		for _, r := range t.Head.Roots {
			for _, o := range r.Objects {
				if kind := o.GroupVersionKind().GroupKind(); kinds.Of(kind).Effect == kinds.NotSimulated {
					names = append(names, kind.Kind+" "+o.Name())
				}
			}
		}
	}
	for _, o := range s.extras {
		if kind := o.GroupVersionKind().GroupKind(); kinds.Of(kind).Effect == kinds.NotSimulated {
			names = append(names, kind.Kind+" "+o.Name())
		}
	}
	if names = slices.Compact(slices.Sorted(slices.Values(names))); len(names) == 0 {
		return
	}
	s.diagnose(report.Diagnostic{
		Severity: "note",
		Message:  "verdicts do not include what these do to a request: " + strings.Join(names, ", "),
	})
}
