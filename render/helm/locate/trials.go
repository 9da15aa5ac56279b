package locate

import (
	"reflect"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/engine"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/origin"
)

const (
	// fieldTries is how many values are tried for a field, and releaseTries for all fields of a
	// release: each is a render of the template file that made the field.
	fieldTries, releaseTries = 4, 256
)

// templateFile is a template file whose objects are looked at.
type templateFile struct {
	// name is empty when the file has to be rendered with all others: those change what it makes.
	name string
	// documents are what it makes as things are, and tried with another value of a leaf.
	documents []*release.Document
	tried     map[*Leaf][]*release.Document
}

// file is the template file of a document.
func (t *Tracer) file(d *release.Document) *templateFile {
	if known, ok := t.files[d.File.Name]; ok {
		return known
	}
	f := &templateFile{name: d.File.Name, tried: map[*Leaf][]*release.Document{}}
	t.files[d.File.Name] = f
	alone, err := t.Release.Documents(t.ctx, t.Release.Values, f.name)
	if err == nil && len(alone) > 0 && alone[0].File.Text == d.File.Text {
		f.documents = alone
		return f
	}
	f.name = "" // what it makes depends on those that were executed before
	f.documents, _ = t.Release.Documents(t.ctx, t.Release.Values, "")
	return f
}

// try renders a template file with another value of a leaf; nil when that cannot be rendered, or
// there were too many.
func (t *Tracer) try(f *templateFile, l *Leaf) []*release.Document {
	if known, ok := f.tried[l]; ok {
		return known
	}
	if t.trials >= releaseTries {
		return nil
	}
	t.trials++
	documents, _ := t.Release.Documents(t.ctx, l.with(t.Release.Values, t.defaults(), l.other()), f.name)
	for _, d := range documents {
		d.File = &engine.File{Name: d.File.Name} // the trace of a trial is not needed
	}
	f.tried[l] = documents
	return documents
}

// changes reports whether a field of an object becomes another with another value of a leaf.
func (o *object) changes(l *Leaf, field string) bool {
	d := o.made.Document
	f := o.file(d)
	at := f.index(d)
	if at < 0 {
		return false
	}
	after := o.try(f, l)
	again := f.again(at, after)
	if again == nil || again.Text == d.Text || len(again.Content()) == 0 { // what is no YAML says nothing of a field
		return false
	}
	before, _ := origin.Field(d.Content(), field)
	now, found := origin.Field(again.Content(), field)
	return !found || !reflect.DeepEqual(before, now)
}

// index is the place of a document among those of the file.
func (f *templateFile) index(d *release.Document) int {
	for i, known := range f.documents {
		if known.File.Name == d.File.Name && known.Offset == d.Offset && known.Text == d.Text {
			return i
		}
	}
	return -1
}

// again is the document among others that is the one at a place: it is in the same place, or of the
// same object.
func (f *templateFile) again(at int, documents []*release.Document) *release.Document {
	if len(documents) == len(f.documents) {
		return documents[at]
	}
	kind, name := render.KindAndName(f.documents[at].Content())
	for _, d := range documents {
		if d.File.Name != f.documents[at].File.Name {
			continue
		}
		if k, n := render.KindAndName(d.Content()); k == kind && n == name {
			return d
		}
	}
	return nil
}
