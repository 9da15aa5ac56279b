package controllers

import "strings"

// move records that the fields below a field of a generated object come from those below another
// field of its owner.
type move struct{ from, to string }

// templateMoves returns the moves of a Pod created from spec.template.
func templateMoves() []move {
	return []move{
		{"metadata.name", "metadata.name"},
		{"metadata.generateName", "metadata.name"},
		{"metadata.namespace", "metadata.namespace"},
		{"metadata", "spec.template.metadata"},
		{"spec", "spec.template.spec"},
	}
}

// OwnerField returns the field of the owner that a field of the generated object comes from; ok is
// false if there is none.
func (g *Generated) OwnerField(path string) (field string, ok bool) {
	for _, m := range g.moves {
		if rest, ok := strings.CutPrefix(path, m.from); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return m.to + rest, true
		}
	}
	return "", false
}
