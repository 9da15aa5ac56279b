package locate

import (
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/origin"
)

// wholeTries limits the renders of the whole release for all of its fields, and wholeBytes the size of their
// documents.
const wholeTries, wholeBytes = 256, 64 << 20

// wholeTrial is a rendering of the whole release with another value.
type wholeTrial struct {
	trial
	// applied are the objects after post-renderers, by document; nil without post-renderers.
	applied map[*release.Document][]*release.Object
}

// proven returns the place of a value, as Inferred unless it is proven that the value decides the field: the
// whole chart, with its schema and all other templates, must accept another value, which changes the field.
func (l *fieldSearch) proven(leaf *Leaf, place origin.Place) origin.Place {
	if (place.Evidence == origin.Marked || place.Via != "") && !l.confirmed(leaf) {
		place.Evidence, place.Via = origin.Inferred, ""
	}
	return place
}

// confirmed reports whether a render of the whole release with another value of a leaf changes the field.
func (l *fieldSearch) confirmed(leaf *Leaf) bool {
	f := l.file(l.made.Document)
	for i, variant := range l.variants(leaf) {
		w, ok := l.tryWhole(leaf, i, variant)
		if !ok {
			return false
		}
		if w.rendered && l.differsIn(f, w) {
			return true
		}
	}
	return false
}

// tryWhole renders the whole release with the i-th other value of a leaf; ok is false if there were too many
// renders.
func (t *Tracer) tryWhole(l *Leaf, i int, variant func() *release.Release) (w wholeTrial, ok bool) {
	if known := t.wholes[l]; i < len(known) {
		return known[i], true
	}
	known := t.known()
	if t.wholesLeft <= 0 || t.ctx.Err() != nil {
		return w, false
	}
	t.wholesLeft--
	documents, applied, err := t.whole(l, i, variant, known)
	if err == nil {
		w = wholeTrial{trial{true, documents}, applied}
		for _, d := range documents {
			if !slices.Contains(known[d.File.Name], d) {
				forget(d)
			}
		}
	}
	t.wholes[l] = append(t.wholes[l], w)
	return w, true
}

// whole renders the whole release. It continues a trial with the same value if there is one.
func (t *Tracer) whole(l *Leaf, i int, variant func() *release.Release, known map[string][]*release.Document) ([]*release.Document, map[*release.Document][]*release.Object, error) {
	if at := slices.IndexFunc(t.begun, func(b begun) bool { return b.leaf == l && b.i == i }); at >= 0 {
		b := t.begun[at]
		t.begun = slices.Delete(t.begun, at, at+1)
		return b.Whole(t.ctx, known)
	}
	return variant().Whole(t.ctx, known)
}

// known returns the documents of the objects by file, computed once.
func (t *Tracer) known() map[string][]*release.Document {
	if t.documents == nil {
		t.documents = map[string][]*release.Document{}
		size := 1
		for _, o := range t.Objects {
			if d := o.Document; d != nil {
				t.documents[d.File.Name] = append(t.documents[d.File.Name], d)
				size += len(d.Text)
			}
		}
		t.wholesLeft = min(wholeTries, wholeBytes/size)
	}
	return t.documents
}

// differsIn reports whether the field differs in a render of the whole release.
func (l *fieldSearch) differsIn(f *templateFile, w wholeTrial) bool {
	documents := w.documents
	if f.name != "" {
		documents = nil
		for _, d := range w.documents {
			if d.File.Name == f.name {
				documents = append(documents, d)
			}
		}
	}
	became := l.effectOf(f, documents, l.field)
	if became != changed || w.applied == nil {
		return became != unchanged
	}
	after := w.applied[f.again(f.index(l.made.Document), documents)]
	return len(after) == 0 || len(after) == 1 && differ(contentOf(l.made), contentOf(after[0]), l.applied)
}

// contentOf returns the content of an applied object.
func contentOf(o *release.Object) map[string]any {
	return (&render.Object{JSON: o.JSON}).Content()
}
