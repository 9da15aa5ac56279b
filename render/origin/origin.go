package origin

import (
	"github.com/preadmit/preadmit/render/tree"
)

// Origin says where an object and its fields were written. It is safe for
// concurrent use.
type Origin struct {
	places func() Places
}

// Places are the positions of one object.
type Places struct {
	Document tree.Position
	// find is nil when only the document is known.
	Find func(path string, part Part) Place
	// Texts is set when Find takes paths of InText. Where it is not, Find gets the path of the text.
	Texts bool
	// why says why only the document is known.
	Why string
	// removals is nil when nothing takes elements of lists or keys of maps away.
	Removals func(list string) []Removal
	// history is nil when the object's way through kustomizations is not known.
	History History
}

// Part is a part of a value that several lines may have written together: an
// image whose name and tag come from different entries, a name with a prefix.
type Part int

const (
	// Whole is the value, or any part of it.
	Whole Part = iota
	// Front is what a value begins with: of an image all before tag and digest, of
	// a name what `namePrefix` put there.
	Front
	// Back is what it ends with: of an image tag and digest, of a name what
	// `nameSuffix` put there.
	Back
)

// Evidence is how it is known that a line wrote a field.
type Evidence int

const (
	// Nearest is none: the position is that of the nearest ancestor.
	Nearest Evidence = iota
	// Marked: the object holds the very node that the line was read into, and both
	// say the same.
	Marked
	// Inferred: kustomize does not carry a mark; the line is one that writes such a
	// field, and this value.
	Inferred
	// Removed: the field is gone, and the line took it away.
	Removed
)

// Place is what is known of where a field was written.
type Place struct {
	tree.Position
	Evidence Evidence
	// Via, of an inferred place, is the field of the object that asks for the unit: it is proven to decide, but
	// not that the place wrote it. It is empty for others.
	Via string
	// IsText is set when the place is that of the text that the field is in (see InText).
	IsText bool
	// Text is the place of the value itself when this is that of what decides whether it is there; nil for others.
	Text *Place
	// Also are the places of other values that decide the field as well, where it is made of several.
	Also []Place
	// Why says why no line is known, in words for the reader of a report. Only with
	// Nearest, and empty for a field that the object does not have.
	Why string
}

// Found reports whether the position is the field's own.
func (p Place) Found() bool { return p.Evidence == Marked || p.Evidence == Inferred }

// Removal is an element that a patch took out of a list, or a key out of a map that is empty
// since.
type Removal struct {
	// Element is what was taken away, as JSON decodes; perhaps only the fields the
	// patch finds it by. Of a map it is a map of the key.
	Element any
	// Position is that of the directive or operation.
	Position tree.Position
}

// History is what kustomizations did to an object.
type History interface {
	// steps is Source.Chain; at is the place of the field.
	Steps(path string, part Part, at Place) []Step
	// taking adds to a step that took something out of a list who applied it.
	RemovalStep(list string, last Step) Step
	// passed is Source.Passed.
	Kustomizations() (entry tree.Position, through []Kustomization)
	// deletedBy is Source.DeletedBy.
	DeletedBy(t *tree.Tree, dir string) []Deletion
}

// New makes a Source whose places are found when they are first asked for.
func New(places func() Places) *Origin { return &Origin{places: places} }

// Lazy returns the origin that a function finds, when it is first asked for.
func Lazy(find func() *Origin) *Origin { return New(func() Places { return find().places() }) }

// Known is a source whose places need no more work.
func Known(p Places) *Origin { return &Origin{places: func() Places { return p }} }

// Document is the first line of content of the object's YAML document (for
// generated objects the generator's entry or kustomization file).
func (s *Origin) Document() tree.Position { return s.places().Document }

// HasFields reports whether the positions of fields are known, and not only that of the
// document.
func (s *Origin) HasFields() bool { return s.places().Find != nil }

// Find returns the position of a field, written as the Kubernetes API writes field
// paths: `spec.template.spec.containers[0].image`, `metadata.labels[app]`. When
// the field has no position of its own, the nearest existing ancestor's is
// returned with found == false.
func (s *Origin) Find(path string) (pos tree.Position, found bool) {
	p := s.Place(path, Whole)
	return p.Position, p.Found()
}

// Place returns the position of a part of a field's value and how it is known.
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

// Removals are what patches took out of the list, or the map that is empty since, at a field
// path, those of the patch applied last first.
func (s *Origin) Removals(list string) []Removal {
	p := s.places()
	if p.Removals == nil {
		return nil
	}
	return p.Removals(list)
}
