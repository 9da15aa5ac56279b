package origin

// ByField returns an origin in which some fields have an origin of their own: of returns it, or nil for other
// fields.
func (s *Origin) ByField(of func(path string) *Origin) *Origin {
	return New(func() Places {
		places := s.places()
		if places.Find == nil {
			return places
		}
		b := &byField{rest: s, of: of}
		places.Find = func(path string, part Part) Place { return b.at(path).Place(path, part) }
		places.Removals = func(list string) []Removal { return b.at(list).Removals(list) }
		if places.History != nil {
			places.History = &historyByField{places.History, b}
		}
		return places
	})
}

type byField struct {
	rest *Origin
	of   func(path string) *Origin
}

// at returns the origin of a field.
func (b *byField) at(path string) *Origin {
	if own := b.of(path); own != nil {
		return own
	}
	return b.rest
}

// historyByField is the history of an object whose fields have several origins.
type historyByField struct {
	History
	fields *byField
}

// Steps implements History.
func (h *historyByField) Steps(path string, part Part, _ Place) []Step {
	return h.fields.at(path).Chain(path, part)
}

// RemovalStep implements History.
func (h *historyByField) RemovalStep(list string, last Step) Step {
	if p := h.fields.at(list).places(); p.History != nil {
		return p.History.RemovalStep(list, last)
	}
	return last
}
