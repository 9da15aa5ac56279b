package plan

import (
	"context"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/parallel"
)

// Plan decides which roots of a change are rendered, and renders them.
type Plan struct {
	*change.Change
	Work parallel.Workers
	// Extras are objects given in addition to the trees. Given are the configured paths of policies
	// and context.
	Extras []*admission.Object
	Given  []string
	// Namespaces are possible namespaces of objects that name none, in addition to default.
	Namespaces []string
	// Rights is set if RBAC objects decide every request.
	Rights bool
	// Everything renders all roots, not only those that matter.
	Everything bool

	// inputs has what roots of the head read.
	inputs map[render.RootID]*render.Needs
	// searched are the mentions that roots were already searched for.
	searched map[render.Mention]bool
}

// Render renders the roots that verdicts depend on: those that the change touches, and others that may
// hold objects that the API server reads to judge these. An untouched root renders to the same objects
// in both trees. Without a base the roots to be judged count as touched, and if no root is excluded,
// all are rendered.
func (p *Plan) Render(ctx context.Context) error {
	if err := p.renderAll(ctx); err != nil {
		return err
	}
	p.Head.Renderer.CacheTree(p.Head.Found.Roots)
	return nil
}

func (p *Plan) renderAll(ctx context.Context) error {
	if p.Base == nil && (p.Everything || !p.Restricted()) {
		return p.renderRoots(ctx, p.Head.Found.Roots)
	}
	p.findTouched()
	if err := p.renderRoots(ctx, p.first()); err != nil {
		return err
	}
	if err := p.renderGiven(ctx); err != nil {
		return err
	}
	for {
		needed := p.dependencies()
		if needed.everything || p.Everything {
			return p.renderRoots(ctx, p.Head.Found.Roots)
		}
		more := p.holding(needed)
		if len(more) == 0 {
			return nil
		}
		if err := p.renderRoots(ctx, more); err != nil {
			return err
		}
	}
}

// RenderTouched renders the selected roots that the change touches.
func (p *Plan) RenderTouched(ctx context.Context) error {
	p.findTouched()
	var touched []render.Root
	for _, root := range p.Head.Found.Roots {
		if p.Touched[root.RootID] && p.Selected(root.RootID) {
			touched = append(touched, root)
		}
	}
	return p.renderRoots(ctx, touched)
}

// findTouched determines which roots the change touches.
func (p *Plan) findTouched() {
	p.inputs, p.searched = map[render.RootID]*render.Needs{}, map[render.Mention]bool{}
	roots := p.Head.Found.Roots
	inputs := make([]*render.Needs, len(roots))
	touched := make([]bool, len(roots))
	p.Work.Spread(len(roots), func(i int) {
		inputs[i] = p.Head.Renderer.Needs(roots[i])
		if p.Base == nil {
			touched[i] = p.Selected(roots[i].RootID)
			return
		}
		before, ok := p.Base.Root(roots[i].RootID)
		touched[i] = !ok || !change.SameRoot(before, roots[i]) || !p.Base.Renderer.Unchanged(inputs[i])
	})
	for i, root := range roots {
		p.inputs[root.RootID] = inputs[i]
		p.Touched[root.RootID] = touched[i]
		if in := inputs[i]; in.Problem != nil { // rendering would return no more
			p.Head.Roots[root.RootID] = &change.Rendered{ID: root.RootID, Result: &render.Result{Root: root, Trace: in.Trace, Problem: in.Problem}}
		}
	}
	for _, root := range p.Gone() {
		p.Touched[root.RootID] = true
	}
}

// first returns the roots to render first: those that are touched, those that are known not to render,
// those to be judged that lack a part, and those in configured paths of policies or context.
func (p *Plan) first() []render.Root {
	var roots []render.Root
	for _, root := range p.Head.Found.Roots {
		in := p.inputs[root.RootID]
		if p.Touched[root.RootID] || in.Problem != nil || in.Lacks != nil && p.Selected(root.RootID) || p.isGiven(root.Dir) {
			roots = append(roots, root)
		}
	}
	return roots
}

// holding returns the roots that are not rendered yet and may hold a dependency.
func (p *Plan) holding(d dependencies) []render.Root {
	var mentions []render.Mention
	for _, m := range d.mentions {
		if !p.searched[m] {
			p.searched[m] = true
			mentions = append(mentions, m)
		}
	}
	all := p.Head.Found.Roots
	holds := make([]bool, len(all))
	p.Work.Spread(len(all), func(i int) {
		if p.Head.Roots[all[i].RootID] == nil {
			holds[i] = p.Head.Renderer.MayHold(p.inputs[all[i].RootID], mentions...)
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

// isGiven reports whether a root is in a configured path of policies or context.
func (p *Plan) isGiven(root string) bool {
	for _, given := range p.Given {
		if change.Under(given, root) {
			return true
		}
	}
	return false
}

// renderRoots renders the given roots of the head that are not rendered yet, and the corresponding
// roots of the base and those that the head does not have.
func (p *Plan) renderRoots(ctx context.Context, roots []render.Root) error {
	if err := p.renderSide(ctx, p.Head, roots); err != nil || p.Base == nil {
		return err
	}
	var before []render.Root
	for _, root := range roots {
		r := p.Head.Roots[root.RootID]
		if !p.Everything && !p.Touched[root.RootID] && p.Head.Renderer.Needs(root).Cover(r.Result) {
			p.Base.Roots[root.RootID] = r
		} else if old, ok := p.Base.Root(root.RootID); ok {
			before = append(before, old)
		}
	}
	return p.renderSide(ctx, p.Base, append(before, p.Gone()...))
}

// renderSide renders the roots of one tree that are not rendered yet.
func (p *Plan) renderSide(ctx context.Context, to *change.Side, roots []render.Root) error {
	var left []render.Root
	for _, root := range roots {
		if to.Roots[to.ID(root)] == nil {
			left = append(left, root)
		}
	}
	results := make([]*change.Rendered, len(left))
	err := p.Work.Each(ctx, "render "+to.Name, len(left), func(ctx context.Context, i int) error {
		results[i] = to.Render(ctx, left[i])
		return nil
	})
	for i, r := range results {
		to.Roots[to.ID(left[i])] = r
	}
	return err
}
