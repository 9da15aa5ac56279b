package origin

import (
	"fmt"

	"github.com/preadmit/preadmit/render/tree"
)

// answered is an origin whose results are cached in Answers.
type answered struct {
	*Answers
	root  *rootAnswers
	index int
	more  func() bool
	find  func() ([]*Origin, error)
}

// uncached returns the origin itself.
func (a *answered) uncached() *Origin {
	found, err := a.find()
	switch {
	case err != nil:
		return Known(Places{Why: err.Error()})
	case a.index >= len(found):
		return Known(Places{Why: fmt.Sprintf("there are only %d objects", len(found))})
	}
	return found[a.index]
}

// answers returns the cached results for the object.
func (a *answered) answers() *objectAnswers {
	a.mu.Lock()
	known := a.root.Objects[a.index]
	a.mu.Unlock()
	if known != nil {
		return known
	}
	p := a.uncached().places()
	made := &objectAnswers{Document: p.Document, Why: p.Why, Fields: p.Find != nil, Removals: p.Removals != nil, History: p.History != nil}
	if a.more() {
		return made
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.root.Objects == nil {
		a.root.Objects = map[int]*objectAnswers{}
	}
	if a.root.Objects[a.index] == nil {
		a.root.Objects[a.index], a.added = made, true
	}
	return a.root.Objects[a.index]
}

func (a *answered) places() Places {
	known := a.answers()
	p := Places{Document: known.Document, Why: known.Why}
	if known.Fields {
		p.Texts = true // the origin itself decides whether it supports them
		p.Find = func(path string, part Part) Place {
			return answer(a, &known.Places, key(path, part), func() Place { return a.uncached().Place(path, part) })
		}
	}
	if known.Removals {
		p.Removals = a.removals(known)
	}
	if known.History {
		p.History = &pastOf{a, known}
	}
	return p
}

// removals returns Places.Removals. Only empty results are cached: elements may have any type.
func (a *answered) removals(known *objectAnswers) func(list string) []Removal {
	return func(list string) (out []Removal) {
		whole := answer(a, &known.Whole, list, func() bool {
			out = a.uncached().Removals(list)
			return len(out) == 0
		})
		if !whole && out == nil {
			return a.uncached().Removals(list)
		}
		return out
	}
}

// answer returns the cached result of that name, or computes and caches it.
func answer[T any](a *answered, kept *map[string]T, name string, compute func() T) T {
	a.mu.Lock()
	known, ok := (*kept)[name]
	a.mu.Unlock()
	if ok {
		return known
	}
	found := compute()
	if a.more() {
		return found
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if *kept == nil {
		*kept = map[string]T{}
	}
	(*kept)[name], a.added = found, true
	return found
}

func key(path string, part Part) string { return fmt.Sprintf("%d %s", part, path) }

// pastOf is the History of an origin whose results are cached.
type pastOf struct {
	*answered
	known *objectAnswers
}

func (h *pastOf) uncached() History { return h.answered.uncached().places().History }

// Steps implements History. at is no part of the key, as path and part decide it.
func (h *pastOf) Steps(path string, part Part, at Place) []Step {
	return answer(h.answered, &h.known.Steps, key(path, part), func() []Step {
		if past := h.uncached(); past != nil {
			return past.Steps(path, part, at)
		}
		return nil
	})
}

// RemovalStep implements History.
func (h *pastOf) RemovalStep(list string, last Step) Step {
	if past := h.uncached(); past != nil {
		return past.RemovalStep(list, last)
	}
	return last
}

// Kustomizations implements History.
func (h *pastOf) Kustomizations() (entry tree.Position, through []Kustomization) {
	return h.answered.uncached().Kustomizations()
}

// DeletedBy implements History.
func (h *pastOf) DeletedBy(t *tree.Tree, dir string) []Deletion {
	return h.answered.uncached().DeletedBy(t, dir)
}
