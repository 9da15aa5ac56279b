package rules

import (
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
	"go.yaml.in/yaml/v3"
)

// chainFinder finds the chains of an object.
type chainFinder struct {
	locator  *locator
	object   int
	document tree.Position
	find     func(path string, part origin.Part) origin.Place
}

func (f *chainFinder) Kustomizations() (entry tree.Position, through []origin.Kustomization) {
	f.locator.mu.Lock()
	defer f.locator.mu.Unlock()
	r := f.locator.routeOf(f.object, f.document)
	if r == nil {
		return tree.Position{}, nil
	}
	for _, s := range r.stages {
		if !s.generates {
			through = append(through, origin.Kustomization{File: s.k.Path, Component: s.component, Entry: s.entry})
		}
	}
	return r.entry, through
}

func (f *chainFinder) Steps(path string, part origin.Part, at origin.Place) []origin.Step {
	l := f.locator
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.routeOf(f.object, f.document)
	if r == nil {
		return []origin.Step{{Position: at.Position}}
	}
	c := l.newReplay(f.object, f.document, r, path, part)
	c.run()
	return c.chain(at, c.explain(at.Position))
}

// RemovalStep returns the step of the patch that removed an element of a list, with its kustomization, or last
// if no patch is found.
func (f *chainFinder) RemovalStep(list string, last origin.Step) origin.Step {
	l := f.locator
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.routeOf(f.object, f.document)
	if r == nil {
		return last
	}
	if step := l.newReplay(f.object, f.document, r, list, origin.Whole).explain(last.Position); step.Kind == origin.StepPatch {
		return step
	}
	return last
}

// chain returns the replayed steps if they agree with the place in effect. Otherwise it returns the object's
// own document and that place, or only that place.
func (c *replay) chain(at origin.Place, last origin.Step) []origin.Step {
	out := c.out
	switch {
	case len(out) > 0 && !at.Found() && !c.value.there && origin.SameLine(c.taken, at.Position):
		last.Kind = origin.StepPatch
		return append(out, last)
	case len(out) == 0 || at.Evidence == origin.Nearest:
		return []origin.Step{last}
	case at.Evidence != origin.Removed && c.agrees() && origin.SameLine(out[len(out)-1].Position, at.Position):
		out[len(out)-1].Position = at.Position
		return out
	case last.Kind == "" || last.Kind == origin.StepResource || c.guessed || origin.SameLine(out[0].Position, at.Position):
		return []origin.Step{last}
	}
	return []origin.Step{out[0], last}
}

// agrees reports whether the replayed value is the value of the object.
func (c *replay) agrees() bool {
	if len(c.hops) < len(c.steps) || !c.value.there {
		return false
	}
	for i, at := range c.indexes {
		if at >= 0 && at != c.steps[i].Index {
			return false
		}
	}
	leaf := c.hops[len(c.hops)-1].Value
	if c.is("metadata", "name") {
		return c.value.text == c.l.unhashed(c.object)
	}
	return leaf.Kind != yaml.ScalarNode || c.value.opaque || c.value.known && leaf.Value == c.value.text
}

// explain describes the place in effect, as far as it is certain.
func (c *replay) explain(at tree.Position) origin.Step {
	for _, s := range c.out {
		if origin.SameLine(s.Position, at) {
			s.Position = at
			return s
		}
	}
	for _, s := range c.route.stages {
		if kind := c.l.kindOf(s, at); kind != "" {
			return origin.Step{Position: at, Kind: kind, Kustomization: s.k.Path, Component: s.component}
		}
	}
	if own := c.l.ownDocument(c.object, c.document); own != nil && own.snippet.Holds(at) {
		return origin.Step{Position: at, Kind: origin.StepResource}
	}
	return origin.Step{Position: at, Kind: c.borrowed(at)}
}

// borrowed returns the kind of a step at a place outside of all kustomizations that the object went through: a
// replacement if the field was copied from there, else "".
func (c *replay) borrowed(at tree.Position) origin.StepKind {
	if len(c.hops) < len(c.steps) || len(c.hops) == 0 {
		return ""
	}
	leaf := c.hops[len(c.hops)-1].Value
	f := setField{steps: c.steps, value: leaf.Value, names: c.id.names}
	if pos, ok := c.l.replaced(c.document.Path, f); ok && origin.SameLine(pos, at) {
		return origin.StepReplacement
	}
	if pos, ok := c.l.substituted(c.document.Path, leaf); ok && origin.SameLine(pos, at) {
		return origin.StepReplacement
	}
	return ""
}

// kindOf returns how a stage's kustomization uses a place; "" if it does not use it.
func (l *locator) kindOf(s stage, at tree.Position) origin.StepKind {
	if s.generates {
		return ""
	}
	for _, k := range s.layers() {
		p := l.patchesIn(k)
		for _, m := range p.merges {
			if m.snippet.Holds(at) {
				return origin.StepPatch
			}
		}
		for _, o := range p.operations {
			if o.snippet.Holds(at) {
				return origin.StepPatch
			}
		}
		if k.Path == at.Path {
			return origin.StepTransformer
		}
	}
	return ""
}
