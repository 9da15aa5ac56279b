package scanner

import (
	"context"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// renderTrees renders what the verdicts depend on: the roots that the change
// touches, and of the others those that may hold something the API server looks at
// to judge it. What an untouched root renders to is the same in both trees. Without
// a base everything is new, so everything is rendered.
func (s *scan) renderTrees(ctx context.Context) error {
	if s.base == nil {
		if err := s.renderRoots(ctx, s.head.found.Roots); err != nil {
			return err
		}
		s.head.renderer.Remember(s.head.found.Roots)
		return nil
	}
	p := s.newPlan()
	if err := s.renderRoots(ctx, p.first()); err != nil {
		return err
	}
	if err := s.renderAllGiven(ctx); err != nil {
		return err
	}
	for {
		w := s.wants()
		more := s.head.found.Roots
		if !w.everything && !s.whole {
			more = p.holding(w)
		}
		if err := s.renderRoots(ctx, more); err != nil {
			return err
		}
		if w.everything || s.whole || len(more) == 0 {
			s.head.renderer.Remember(s.head.found.Roots)
			return nil
		}
	}
}

// plan decides which roots are rendered.
type plan struct {
	scan   *scan
	inputs map[render.RootID]*render.Inputs
	asked  map[render.Mention]bool
}

// newPlan finds out which roots the change touches.
func (s *scan) newPlan() *plan {
	p := &plan{scan: s, inputs: map[render.RootID]*render.Inputs{}, asked: map[render.Mention]bool{}}
	roots := s.head.found.Roots
	inputs := make([]*render.Inputs, len(roots))
	touched := make([]bool, len(roots))
	s.spread(len(roots), func(i int) {
		inputs[i] = s.head.renderer.Inputs(roots[i])
		before, ok := s.base.root(roots[i].RootID)
		touched[i] = !ok || !sameRoot(before, roots[i]) || !s.base.renderer.Unchanged(inputs[i])
	})
	for i, root := range roots {
		p.inputs[root.RootID] = inputs[i]
		s.touched[root.RootID] = touched[i]
		if in := inputs[i]; in.Problem != nil { // all that rendering would tell
			s.head.roots[root.RootID] = &rendered{id: root.RootID, Result: &render.Result{Root: root, Trace: in.Trace, Problem: in.Problem}}
		}
	}
	for _, root := range s.gone() {
		s.touched[root.RootID] = true
	}
	return p
}

// first are the roots to begin with: those that are touched, those that are known
// not to render, about which that is all there is to say, and those that the
// configuration takes policies or context from.
func (p *plan) first() []render.Root {
	var roots []render.Root
	for _, root := range p.scan.head.found.Roots {
		if p.scan.touched[root.RootID] || p.inputs[root.RootID].Problem != nil || p.scan.isGiven(root.Dir) {
			roots = append(roots, root)
		}
	}
	return roots
}

// holding are the roots not rendered yet that may hold what is wanted.
func (p *plan) holding(w wants) []render.Root {
	var mentions []render.Mention
	for _, m := range w.mentions {
		if !p.asked[m] {
			p.asked[m] = true
			mentions = append(mentions, m)
		}
	}
	all := p.scan.head.found.Roots
	holds := make([]bool, len(all))
	p.scan.spread(len(all), func(i int) {
		if p.scan.head.roots[all[i].RootID] == nil {
			holds[i] = p.scan.head.renderer.MayHold(p.inputs[all[i].RootID], mentions...)
		}
	})
	var roots []render.Root
	for i, root := range all {
		if holds[i] {
			roots = append(roots, root)
		}
	}
	return roots
}

// isGiven tells whether the configuration takes policies or context from a root.
func (s *scan) isGiven(root string) bool {
	for _, given := range s.in.Config.GivenPaths() {
		if under(given, root) {
			return true
		}
	}
	return false
}

// renderRoots renders roots of the head that are not rendered yet, and of the base
// those at the same paths and those the head does not have.
func (s *scan) renderRoots(ctx context.Context, roots []render.Root) error {
	if err := s.renderSide(ctx, s.head, roots); err != nil || s.base == nil {
		return err
	}
	var before []render.Root
	for _, root := range roots {
		r := s.head.roots[root.RootID]
		if !s.whole && !s.touched[root.RootID] && s.head.renderer.Inputs(root).Cover(r.Result) {
			s.base.roots[root.RootID] = r
		} else if old, ok := s.base.root(root.RootID); ok {
			before = append(before, old)
		}
	}
	return s.renderSide(ctx, s.base, append(before, s.gone()...))
}

// renderSide renders the roots of one tree that are not rendered yet.
func (s *scan) renderSide(ctx context.Context, to *side, roots []render.Root) error {
	var left []render.Root
	for _, root := range roots {
		if to.roots[to.id(root)] == nil {
			left = append(left, root)
		}
	}
	results := make([]*rendered, len(left))
	err := s.each(ctx, "render "+to.name, len(left), func(ctx context.Context, i int) error {
		results[i] = to.render(ctx, left[i])
		return nil
	})
	for i, r := range results {
		to.roots[to.id(left[i])] = r
	}
	return err
}

// rendered are the roots of both sides that were rendered, each once.
func (s *scan) rendered() []*rendered {
	var all []*rendered
	for _, root := range s.head.found.Roots {
		if r := s.head.roots[root.RootID]; r != nil {
			all = append(all, r)
		}
	}
	for _, root := range s.base.found.Roots {
		if r := s.base.roots[s.base.id(root)]; r != nil && r != s.head.roots[r.id] {
			all = append(all, r)
		}
	}
	return all
}

// changedObjects are the objects of touched roots, and of what the configuration
// gives beside the roots, that are not the same in both trees, in all their versions.
func (s *scan) changedObjects() []*admission.Object {
	var changed []*admission.Object
	for id, touched := range s.touched {
		if touched {
			changed = append(changed, differing(s.base.roots[id].all(), s.head.roots[id].all())...)
		}
	}
	for name, results := range s.head.given {
		changed = append(changed, differing(allOf(s.base.given[name]), allOf(results))...)
	}
	return changed
}

func allOf(results []*rendered) []*admission.Object {
	var objects []*admission.Object
	for _, r := range results {
		objects = append(objects, r.objects...)
	}
	return objects
}

// namesake is what objects of one key have in common, whatever namespace turns out
// to be theirs.
type namesake struct {
	schema.GroupKind
	name string
}

// differing are the objects of lists that may not find themselves in the other one
// when both are paired: how often there is one and in which order matters then.
func differing(base, head []*admission.Object) []*admission.Object {
	before, after := namesakes(base), namesakes(head)
	var differ []*admission.Object
	for key, objects := range after {
		if !slices.EqualFunc(before[key], objects, equalObjects) {
			differ = append(append(differ, before[key]...), objects...)
		}
	}
	for key, objects := range before {
		if after[key] == nil {
			differ = append(differ, objects...)
		}
	}
	return differ
}

func namesakes(objects []*admission.Object) map[namesake][]*admission.Object {
	all := map[namesake][]*admission.Object{}
	for _, o := range objects {
		key := namesake{o.GroupVersionKind().GroupKind(), o.Name()}
		all[key] = append(all[key], o)
	}
	return all
}
