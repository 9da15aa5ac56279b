package origin

import (
	"github.com/preadmit/preadmit/render/tree"
)

// Origin describes where an object and its fields were written. It is safe for concurrent use.
type Origin struct {
	places func() Places
}

// Places are the positions of one object.
type Places struct {
	Document tree.Position
	// Find is nil when only the document is known.
	Find func(path string, part Part) Place
	// Texts is set when Find supports paths of InText. Otherwise Find is passed the path of the text.
	Texts bool
	// Why is the reason why only the document is known.
	Why string
	// Removals is nil when nothing removes elements of lists or keys of maps.
	Removals func(list string) []Removal
	// History is nil when the object's route through kustomizations is unknown.
	History History
}

// Part is a part of a value that several lines may have written together: an
// image whose name and tag come from different entries, a name with a prefix.
type Part int

const (
	// Whole is the value, or any part of it.
	Whole Part = iota
	// Front is the beginning of a value: an image without tag and digest, the part of a name that `namePrefix`
	// added.
	Front
	// Back is the end of a value: an image's tag and digest, the part of a name that `nameSuffix` added.
	Back
)

// Evidence is the reason why a line is known to have written a field.
type Evidence int

const (
	// Nearest: no evidence, the position is that of the nearest ancestor.
	Nearest Evidence = iota
	// Marked: the object contains the node that was parsed from the line, with the same value.
	Marked
	// Inferred: kustomize keeps no mark; the line is one that writes such a field, with this value.
	Inferred
	// Removed: the field is gone, and the line removed it.
	Removed
)

// Place is a place where a field was written, and its evidence.
type Place struct {
	tree.Position
	Evidence Evidence
	// Via, of an inferred place, is the field of the unit's object that is proven to decide the value, while
	// the place is not proven to have written it. It is empty for other places.
	Via string
	// IsText is set for the place of the text that contains the field (see InText).
	IsText bool
	// Text is the place of the value itself when this is the place that decides whether the field exists; else
	// nil.
	Text *Place
	// Also are the places of further values, when several decide the field.
	Also []Place
	// Why is the reason why no line is known, for readers of a report. It is set only with Nearest, and empty
	// for a field that the object does not have.
	Why string
}

// Found reports whether the position is the field's own.
func (p Place) Found() bool { return p.Evidence == Marked || p.Evidence == Inferred }

// Removal is an element that a patch removed from a list, or a key that it removed from a map that is now
// empty.
type Removal struct {
	// Element is the removed element, as decoded from JSON; perhaps only the fields by which the patch matches
	// it. For a map it is a map with the removed key.
	Element any
	// Position is the position of the directive or operation.
	Position tree.Position
}

// History is an object's route through kustomizations.
type History interface {
	// Steps implements Origin.Chain; at is the place of the field.
	Steps(path string, part Part, at Place) []Step
	// RemovalStep completes a step that removed an element of a list with its kustomization.
	RemovalStep(list string, last Step) Step
	// Kustomizations implements Origin.Kustomizations.
	Kustomizations() (entry tree.Position, through []Kustomization)
	// DeletedBy implements Origin.DeletedBy.
	DeletedBy(t *tree.Tree, dir string) []Deletion
}

// New returns an Origin whose places are computed on first use.
func New(places func() Places) *Origin { return &Origin{places: places} }

// Lazy returns the origin that find returns; find is called on first use.
func Lazy(find func() *Origin) *Origin { return New(func() Places { return find().places() }) }

// Known returns an origin with known places.
func Known(p Places) *Origin { return &Origin{places: func() Places { return p }} }

// Document returns the first line of content of the object's YAML document (for generated objects the
// generator's entry or kustomization file).
func (s *Origin) Document() tree.Position { return s.places().Document }

// HasFields reports whether positions of fields are known, and not only that of the document.
func (s *Origin) HasFields() bool { return s.places().Find != nil }

// Find returns the position of a field, whose path has the form of the Kubernetes API:
// `spec.template.spec.containers[0].image`, `metadata.labels[app]`. When the field has no position of its own,
// Find returns that of the nearest existing ancestor with found == false.
func (s *Origin) Find(path string) (pos tree.Position, found bool) {
	p := s.Place(path, Whole)
	return p.Position, p.Found()
}

// Place returns the place of a part of a field's value.
func (s *Origin) Place(path string, part Part) Place {
	p := s.places()
	if p.Find == nil {
		return Place{Position: p.Document, Why: p.Why}
	}
	if text, _, ok := CutText(path); ok && !p.Texts {
		place := p.Find(text, Whole)
		place.IsText = true
		return place
	}
	return p.Find(path, part)
}

// Removals returns the elements that patches removed from the list, or the keys from the map that is now
// empty, at a field path; those of the patch applied last come first.
func (s *Origin) Removals(list string) []Removal {
	p := s.places()
	if p.Removals == nil {
		return nil
	}
	return p.Removals(list)
}
