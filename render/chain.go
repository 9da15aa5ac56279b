package render

import "go.yaml.in/yaml/v3"

// chainFinder finds the chains of an object.
type chainFinder struct {
	locator  *locator
	object   int
	document Position
	find     func(path string, part Part) Place
}

func (f *chainFinder) passed() (entry Position, through []Passage) {
	f.locator.mu.Lock()
	defer f.locator.mu.Unlock()
	r := f.locator.routeOf(f.object, f.document)
	if r == nil {
		return Position{}, nil
	}
	for _, s := range r.stages {
		if !s.generates {
			through = append(through, Passage{Kustomization: s.k.path, Component: s.component, Entry: s.entry})
		}
	}
	return r.entry, through
}

func (f *chainFinder) steps(path string, part Part, at Place) []Step {
	l := f.locator
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.routeOf(f.object, f.document)
	if r == nil {
		return []Step{{Position: at.Position}}
	}
	c := l.newCourse(f.object, f.document, r, path, part)
	c.run()
	return c.chain(at, c.explain(at.Position))
}

// taking adds to a step that took something away who applied it.
func (f *chainFinder) taking(list string, last Step) Step {
	l := f.locator
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.routeOf(f.object, f.document)
	if r == nil {
		return last
	}
	if step := l.newCourse(f.object, f.document, r, list, Whole).explain(last.Position); step.Kind == StepPatch {
		return step
	}
	return last
}

// chain ends what was followed with the place in effect. Only when both agree is
// it all told, else the object's own document and that place.
func (c *course) chain(at Place, last Step) []Step {
	out := c.out
	switch {
	case len(out) > 0 && !at.Found() && !c.value.there && sameSpot(c.taken, at.Position):
		last.Kind = StepPatch
		return append(out, last)
	case len(out) == 0 || at.Evidence == Nearest:
		return []Step{last}
	case at.Evidence != Removed && c.agrees() && sameSpot(out[len(out)-1].Position, at.Position):
		out[len(out)-1].Position = at.Position
		return out
	case last.Kind == "" || last.Kind == StepResource || c.guessed || sameSpot(out[0].Position, at.Position):
		return []Step{last}
	}
	return []Step{out[0], last}
}

// agrees tells whether the value that was followed is the one the object has.
func (c *course) agrees() bool {
	if len(c.hops) < len(c.steps) || !c.value.there {
		return false
	}
	for i, at := range c.indexes {
		if at >= 0 && at != c.steps[i].index {
			return false
		}
	}
	leaf := c.hops[len(c.hops)-1].value
	if c.is("metadata", "name") {
		return c.value.text == c.l.unhashed(c.object)
	}
	return leaf.Kind != yaml.ScalarNode || c.value.opaque || c.value.known && leaf.Value == c.value.text
}

// explain says of the place in effect what it is, as far as that is certain.
func (c *course) explain(at Position) Step {
	for _, s := range c.out {
		if sameSpot(s.Position, at) {
			s.Position = at
			return s
		}
	}
	for _, s := range c.route.stages {
		if kind := c.l.kindOf(s, at); kind != "" {
			return Step{Position: at, Kind: kind, Kustomization: s.k.path, Component: s.component}
		}
	}
	if own := c.l.ownDocument(c.object, c.document); own != nil && own.snippet.holds(at) {
		return Step{Position: at, Kind: StepResource}
	}
	return Step{Position: at, Kind: c.borrowed(at)}
}

// borrowed is what a place outside of all kustomizations that an object went through
// is to the field: that of another field, which was copied.
func (c *course) borrowed(at Position) StepKind {
	if len(c.hops) < len(c.steps) || len(c.hops) == 0 {
		return ""
	}
	leaf := c.hops[len(c.hops)-1].value
	f := setField{steps: c.steps, value: leaf.Value, names: c.id.names}
	if pos, ok := c.l.replaced(c.document.Path, f); ok && sameSpot(pos, at) {
		return StepReplacement
	}
	if pos, ok := c.l.substituted(c.document.Path, leaf); ok && sameSpot(pos, at) {
		return StepReplacement
	}
	return ""
}

// kindOf is what a place is to a kustomization; empty when it is nothing of it.
func (l *locator) kindOf(s stage, at Position) StepKind {
	if s.generates {
		return ""
	}
	for _, k := range s.layers() {
		p := l.patchesIn(k)
		for _, m := range p.merges {
			if m.snippet.holds(at) {
				return StepPatch
			}
		}
		for _, o := range p.operations {
			if o.snippet.holds(at) {
				return StepPatch
			}
		}
		if k.path == at.Path {
			return StepTransformer
		}
	}
	return ""
}

// holds tells whether a place is in a snippet.
func (s *snippet) holds(at Position) bool {
	if s.whole != nil {
		return sameSpot(*s.whole, at)
	}
	return s.path == at.Path && at.Line > s.line && at.Line <= s.line+len(s.lines)
}

func sameSpot(a, b Position) bool { return a.Path == b.Path && a.Line == b.Line }
