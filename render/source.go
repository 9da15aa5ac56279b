package render

// Source says where an object and its fields were written. It is safe for
// concurrent use.
type Source struct {
	places func() places
}

// places are the positions of one object.
type places struct {
	document Position
	// find is nil when only the document is known.
	find func(path string) (Position, bool)
}

// known is a source whose places need no more work.
func known(p places) *Source { return &Source{places: func() places { return p }} }

// Document is the first line of content of the object's YAML document (for
// generated objects the generator's entry or kustomization file).
func (s *Source) Document() Position { return s.places().document }

// Find gives the position of a field, written as the Kubernetes API writes field
// paths: `spec.template.spec.containers[0].image`, `metadata.labels[app]`. When
// the field has no position of its own, the nearest existing ancestor's is
// returned with found == false.
func (s *Source) Find(path string) (pos Position, found bool) {
	p := s.places()
	if p.find == nil {
		return p.document, false
	}
	return p.find(path)
}
