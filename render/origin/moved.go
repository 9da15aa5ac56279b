package origin

import "github.com/preadmit/preadmit/render/tree"

// Moved returns an origin whose places are moved: with a reason, move returns the nearest place that is known;
// without one, the same place in another file, such as the file that this one was generated from. The steps of
// chains are moved too.
func (s *Origin) Moved(move func(tree.Position) (tree.Position, string)) *Origin {
	return New(func() Places {
		return (&movedPlaces{under: s.places(), move: move}).places()
	})
}

// Resolved returns an origin some of whose places are in texts that are not in the tree: resolve returns the
// places to use instead; ok is false for other places. The path is empty for a place that belongs to no single
// field.
func (s *Origin) Resolved(resolve func(path string, part Part, at Place) (place Place, ok bool)) *Origin {
	return New(func() Places {
		m := &movedPlaces{under: s.places(), resolve: resolve}
		m.move = func(at tree.Position) (tree.Position, string) {
			if place, ok := resolve("", Whole, Place{Position: at}); ok {
				return place.Position, ""
			}
			return at, ""
		}
		return m.places()
	})
}

type movedPlaces struct {
	under Places
	move  func(tree.Position) (tree.Position, string)
	// resolve, if set, returns the places of fields.
	resolve func(path string, part Part, at Place) (Place, bool)
}

// places returns the moved places.
func (m *movedPlaces) places() Places {
	out := m.under
	out.Document, _ = m.move(m.under.Document)
	if m.under.Find != nil {
		out.Find = m.find
	}
	if m.under.Removals != nil {
		out.Removals = m.removals
	}
	if m.under.History != nil {
		out.History = &movedHistory{m.under.History, m}
	}
	return out
}

// find implements Places.Find.
func (m *movedPlaces) find(path string, part Part) Place {
	place := m.under.Find(path, part)
	if m.resolve != nil {
		place, _ = m.resolve(path, part, place)
		return place
	}
	at, why := m.move(place.Position)
	if why == "" {
		place.Position, place.Also = at, m.each(place.Also)
		return place
	}
	return Place{Position: at, Evidence: Nearest, Why: why}
}

// each moves places and leaves out those that are moved with a reason.
func (m *movedPlaces) each(all []Place) (moved []Place) {
	for _, place := range all {
		if at, why := m.move(place.Position); why == "" {
			place.Position = at
			moved = append(moved, place)
		}
	}
	return moved
}

// removals implements Places.Removals.
func (m *movedPlaces) removals(list string) []Removal {
	all := m.under.Removals(list)
	out := make([]Removal, len(all))
	for i, r := range all {
		out[i] = r
		out[i].Position, _ = m.move(r.Position)
	}
	return out
}

// movedHistory is the history of an object with moved places.
type movedHistory struct {
	History
	moved *movedPlaces
}

// Steps implements History. Consecutive steps with the same moved position are merged.
func (h *movedHistory) Steps(path string, part Part, at Place) (steps []Step) {
	for _, step := range h.History.Steps(path, part, h.moved.under.Find(path, part)) {
		step = h.step(step)
		if n := len(steps); n > 0 && steps[n-1].Position == step.Position {
			steps = steps[:n-1]
		}
		steps = append(steps, step)
	}
	return steps
}

// step moves a step.
func (h *movedHistory) step(s Step) Step {
	s.Position, _ = h.moved.move(s.Position)
	if _, why := h.moved.move(tree.Position{Path: s.Kustomization}); why != "" {
		s.Kustomization = ""
	}
	return s
}

// RemovalStep implements History.
func (h *movedHistory) RemovalStep(list string, last Step) Step {
	return h.step(h.History.RemovalStep(list, last))
}

// Kustomizations implements History. It leaves out kustomizations of artifacts.
func (h *movedHistory) Kustomizations() (entry tree.Position, through []Kustomization) {
	entry, all := h.History.Kustomizations()
	entry, _ = h.moved.move(entry)
	for _, k := range all {
		if _, why := h.moved.move(tree.Position{Path: k.File}); why == "" {
			through = append(through, k)
		}
	}
	return entry, through
}
