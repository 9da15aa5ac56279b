package helm

import (
	"context"
	"errors"
	"reflect"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/engine"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/origin"
)

const (
	// fieldTries is how many values are tried for a field, and rootTries for all fields of a root:
	// each is a render of the template file that made the field.
	fieldTries, rootTries = 4, 256
)

// tracer finds where the objects of a root come from. It renders the root once more, and the
// template file of an object again for each value that is tried.
type tracer struct {
	*installed
	ctx    context.Context
	result *render.Result

	mu       sync.Mutex
	begun    bool
	release  *release.HelmRelease
	user     map[string]any
	made     *release.Release
	rendered []*release.Object
	all      []*leaf
	files    map[string]*templateFile
	plain    []*render.Object
	trials   int
}

// templateFile is a template file whose objects are looked at.
type templateFile struct {
	// name is empty when the file has to be rendered with all others: those change what it makes.
	name string
	// documents are what it makes as things are, and tried with another value of a leaf.
	documents []*release.Document
	tried     map[*leaf][]*release.Document
}

// begin renders the root with a trace. It is called with the lock held.
func (t *tracer) begin() {
	if t.begun {
		return
	}
	t.begun, t.files = true, map[string]*templateFile{}
	if t.chart.err != nil {
		return
	}
	h, err := release.ParseHelmRelease(t.root.Unit.Object)
	if err != nil {
		return
	}
	user, err := t.values(h, leftOut)
	if err != nil {
		return
	}
	made, err := t.releaseOf(h, user)
	if err != nil {
		return
	}
	rendered := t.kept.take(t.root.Unit)
	if rendered == nil {
		if rendered, err = made.Once(t.ctx); err != nil {
			return
		}
	}
	t.release, t.user, t.made = h, user, made
	all := append(append([]*release.Object{}, rendered.CRDs...), rendered.Objects...)
	if all = append(all, rendered.Hooks...); len(all) == len(t.result.Objects) {
		t.rendered = all
	}
	t.all = t.leaves(h, user)
}

// origins is where an object of another root was written.
func (in *installed) origins(root render.RootID, index int) (*origin.Origin, error) {
	u := in.root.Unit
	if u.Origins == nil || root == (render.RootID{}) {
		return nil, errors.New("it is not known where it was written")
	}
	return u.Origins(context.Background(), root, index)
}

// file is the template file of a document.
func (t *tracer) file(d *release.Document) *templateFile {
	if known, ok := t.files[d.File.Name]; ok {
		return known
	}
	f := &templateFile{name: d.File.Name, tried: map[*leaf][]*release.Document{}}
	t.files[d.File.Name] = f
	alone, err := t.made.Documents(t.ctx, t.user, f.name)
	if err == nil && len(alone) > 0 && alone[0].File.Text == d.File.Text {
		f.documents = alone
		return f
	}
	f.name = "" // what it makes depends on those that were executed before
	f.documents, _ = t.made.Documents(t.ctx, t.user, "")
	return f
}

// try renders a template file with another value of a leaf; nil when that cannot be rendered, or
// there were too many.
func (t *tracer) try(f *templateFile, l *leaf) []*release.Document {
	if known, ok := f.tried[l]; ok {
		return known
	}
	if t.trials >= rootTries {
		return nil
	}
	t.trials++
	documents, _ := t.made.Documents(t.ctx, l.with(t.user, t.chart.chart.Values, l.other()), f.name)
	for _, d := range documents {
		d.File = &engine.File{Name: d.File.Name} // the trace of a trial is not needed
	}
	f.tried[l] = documents
	return documents
}

// changes reports whether a field of the object becomes another with another value of a leaf.
func (o *traced) changes(l *leaf, field string) bool {
	d := o.rendered[o.index].Document
	f := o.file(d)
	at := f.index(d)
	if at < 0 {
		return false
	}
	after := o.try(f, l)
	again := f.again(at, after)
	if again == nil || again.Text == d.Text {
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

// withoutPostRenderers renders the root without post-renderers.
func (t *tracer) withoutPostRenderers() []*render.Object {
	if t.plain == nil {
		t.plain = []*render.Object{}
		made := *t.made
		made.PostRenderers = nil
		if rendered, err := made.Once(t.ctx); err == nil {
			t.plain = t.objects(rendered)
		}
	}
	return t.plain
}

// node is the document of the object, for positions in it; nil if it has none.
func (o *traced) node() *yaml.Node {
	if !o.nodeKnown {
		o.nodeKnown = true
		if d := o.rendered[o.index].Document; d != nil {
			o.document = d.Node()
		}
	}
	return o.document
}
