package locate

import (
	"reflect"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/engine"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/origin"
)

const (
	// fieldTries limits how many values are tried for a field, and releaseTries how many for all fields of a
	// release: each takes a render of the template file that made the field.
	fieldTries, releaseTries = 4, 256
)

// effect is the effect of another value of a leaf on a field.
type effect int

const (
	unchanged effect = iota
	// changed: the object has another value in the field, or no such field.
	changed
	// gone: the object does not exist.
	gone
)

// trial is a rendering with another value.
type trial struct {
	// rendered is false if rendering fails, or after too many trials.
	rendered  bool
	documents []*release.Document
}

// templateFile is a template file for trials.
type templateFile struct {
	// name is empty when the file must be rendered with all others, because they change its output.
	name string
	// documents are its unchanged documents, and tried the trials by leaf.
	documents []*release.Document
	tried     map[*Leaf]trial
}

// file returns the template file of a document.
func (t *Tracer) file(d *release.Document) *templateFile {
	if known, ok := t.files[d.File.Name]; ok {
		return known
	}
	f := &templateFile{name: d.File.Name, tried: map[*Leaf]trial{}}
	t.files[d.File.Name] = f
	if d.File.First {
		f.documents = d.OfFile()
		return f
	}
	alone, err := t.ready.Release().Begin(t.ctx, f.name)
	if err == nil && len(alone.Documents) > 0 && alone.Documents[0].File.Text == d.File.Text {
		f.documents = alone.Documents
		return f
	}
	f.name = "" // its output depends on the files executed before
	f.documents, _ = t.ready.Release().Documents(t.ctx)
	return f
}

// try renders a template file with the first other value of a leaf that the chart accepts.
func (t *Tracer) try(f *templateFile, l *Leaf) trial {
	if known, ok := f.tried[l]; ok {
		return known
	}
	a, ok := t.ahead[l]
	if !ok {
		a = t.attempt(f, l, releaseTries-t.trials)
	}
	if t.trials += a.tries; t.trials > releaseTries || a.stopped {
		t.trials = min(t.trials, releaseTries)
		return trial{}
	}
	for _, d := range a.documents {
		forget(d)
	}
	for _, b := range a.begun {
		t.begun = append(t.begun[max(0, len(t.begun)-fieldTries+1):], b)
	}
	f.tried[l] = a.trial
	return a.trial
}

// tryAhead tries the first of leaves, unless it was tried, in parallel with as many of the others as there are
// cores. Results that are never used do not count, so that the number of trials does not depend on timing.
func (t *Tracer) tryAhead(f *templateFile, leaves []*Leaf) {
	_, ahead := t.ahead[leaves[0]]
	if _, tried := f.tried[leaves[0]]; ahead || tried {
		return
	}
	leaves = leaves[:min(len(leaves), runtime.GOMAXPROCS(0))]
	made := make([]attempts, len(leaves))
	var group errgroup.Group
	for i, l := range leaves {
		if _, ok := f.tried[l]; !ok {
			group.Go(func() error {
				made[i] = t.attempt(f, l, variantTries)
				return nil
			})
		}
	}
	_ = group.Wait() // the functions return no error
	for i, l := range leaves {
		if made[i].tries > 0 {
			t.ahead[l] = made[i]
		}
	}
}

// attempts are the renders of a template file with other values of a leaf, up to the first one that succeeds.
type attempts struct {
	trial
	tries int
	begun []begun
	// stopped is set when the limit was reached before a render succeeded.
	stopped bool
}

// attempt renders a template file with other values of a leaf, at most so many. It modifies nothing.
func (t *Tracer) attempt(f *templateFile, l *Leaf, most int) (a attempts) {
	for i, variant := range t.variants(l) {
		if a.tries >= most || t.ctx.Err() != nil {
			a.stopped = true
			return a
		}
		a.tries++
		if f.name == "" {
			documents, err := variant().Documents(t.ctx)
			if err == nil {
				a.trial = trial{true, documents}
				return a
			}
			continue
		}
		if b, err := variant().Begin(t.ctx, f.name); err == nil {
			a.begun = append(a.begun, begun{l, i, b})
			a.trial = trial{true, b.Documents}
			return a
		}
	}
	return a
}

// begun is a trial of a template file with the i-th other value of a leaf, which can be continued.
type begun struct {
	leaf *Leaf
	i    int
	*release.Begun
}

// forget drops the trace of a trial's document, which is not needed.
func forget(d *release.Document) { d.File = &engine.File{Name: d.File.Name} }

// effect returns the effect of another value of a leaf on a field of the object.
func (o *object) effect(l *Leaf, field string) effect {
	f := o.file(o.made.Document)
	after := o.try(f, l)
	if !after.rendered {
		return unchanged
	}
	return o.effectOf(f, after.documents, field)
}

// effectOf returns the effect on a field of the object, given the changed documents of its file.
func (o *object) effectOf(f *templateFile, documents []*release.Document, field string) effect {
	d := o.made.Document
	at := f.index(d)
	if at < 0 {
		return unchanged
	}
	again := f.again(at, documents)
	switch {
	case again == nil:
		return f.without(at, documents)
	case again.Text == d.Text || len(again.Content()) == 0: // invalid YAML shows no effect
		return unchanged
	case kindOf(again) != kindOf(d):
		return gone
	case differ(d.Content(), again.Content(), field):
		return changed
	}
	return unchanged
}

// differ reports whether a field differs in two contents.
func differ(a, b map[string]any, field string) bool {
	before, had := origin.Field(a, field)
	now, has := origin.Field(b, field)
	return had != has || !reflect.DeepEqual(before, now)
}

// without returns the effect if a document is missing among the changed ones: its object may have another name
// now.
func (f *templateFile) without(at int, documents []*release.Document) effect {
	d := f.documents[at]
	count := func(among []*release.Document) (n int) {
		for _, other := range among {
			if other.File.Name == d.File.Name && kindOf(other) == kindOf(d) {
				n++
			}
		}
		return n
	}
	if count(documents) < count(f.documents) {
		return gone
	}
	return unchanged
}

// kindOf returns the version and kind of the object in a document.
func kindOf(d *release.Document) [2]any {
	content := d.Content()
	return [2]any{content["apiVersion"], content["kind"]}
}

// index returns the index of a document in the file; -1 if it is not found.
func (f *templateFile) index(d *release.Document) int {
	for i, known := range f.documents {
		if known.File.Name == d.File.Name && known.Offset == d.Offset && known.Text == d.Text {
			return i
		}
	}
	return -1
}

// again returns the changed document for the one at an index: the one at the same index, or of the same
// object.
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
