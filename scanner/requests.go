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
)

// reviews are the requests a target's roots stand for.
func (s *scan) reviews(ctx context.Context, c *servers) []*review {
	reviews, reviewed := []*review{}, []*rootReview{}
	moved := s.findMoves(c)
	for _, root := range c.target.roots {
		base, head, ok := s.Sides(root)
		if !ok || base == head && len(c.target.changed) == 0 {
			continue
		}
		h := c.review(ctx, root)
		h.workloads = s.in.Config.Workloads == nil || *s.in.Config.Workloads
		if base == head && !h.reach.any {
			continue
		}
		pairs := slices.DeleteFunc(moved.pairs(root, h.inForce.Cluster(), base.All(), head.All()), func(p pair) bool { return !h.concerns(p) })
		for _, p := range pairs {
			reviews = append(reviews, &review{rootReview: h, pair: p, user: c.target.user})
		}
		if len(pairs) > 0 {
			reviewed = append(reviewed, h)
			s.notePolicies(h)
			s.noteAmbiguities(c.target, root, pairs)
		}
	}
	s.noteRefusals(reviewed)
	return reviews
}

// concerns reports whether the change concerns a pair: it differs, or what judges
// it does.
func (h *rootReview) concerns(p pair) bool {
	if !p.same {
		return true
	}
	if !h.reach.any || kinds.IsPolicy(p.object().GroupVersionKind().GroupKind()) {
		return false
	}
	names, all := h.reach.policiesFor(p.key)
	return all || len(names) > 0 && h.proposed.MayMatch(names, p.object(), p.operation()) || h.concernsOffspring(p, names)
}

// notePolicies remembers the policies that judge.
func (s *scan) notePolicies(h *rootReview) {
	for _, p := range slices.Concat(h.inForce.Policies(), h.proposed.Policies()) {
		s.policies[p.Name] = true
	}
}

// noteRefusals reports policies that take no effect on what was reviewed because an API
// server would not accept them, where they are no findings of their own: those given
// beside the trees are findings, those that did not change are mentioned.
func (s *scan) noteRefusals(reviewed []*rootReview) {
	told := map[string]bool{}
	for _, h := range reviewed {
		for _, refusal := range h.refusals {
			o := refusal.Object
			id := o.GroupVersionKind().Kind + "/" + o.Name() + "/" + refusal.Message
			from := change.OriginOf(o).Side
			if told[id] || from == s.Base || s.Base == nil && !from.Extra {
				continue
			}
			told[id] = true
			key := admission.Key{Name: o.Name()}
			if from.Extra {
				f := pair{key: key, head: o}.malformed(refusal)
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
		f.Root = r.root.String()
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
		for _, r := range t.head.roots {
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
