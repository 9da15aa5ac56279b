package release

import (
	"context"
	"slices"

	"github.com/preadmit/preadmit/render/helm/engine"
)

// Begun is a release of which one template file was executed.
type Begun struct {
	// Documents are the documents of the file.
	Documents []*Document

	release *Release
	// rest executes the other templates; nil if some of them precede the file.
	rest func() (*engine.Rendering, error)
}

// Begin executes one template file, without the changes to values by files that are executed before it. The
// values are not checked against the schema. It costs a small part of Render.
func (r *Release) Begin(ctx context.Context, file string) (*Begun, error) {
	c, all, err := r.Prepare()
	if err != nil {
		return nil, err
	}
	made, rest, err := r.Chart.engine.One(ctx, c, all, r.known(r.Options), file)
	if err != nil {
		return nil, problem(c, err)
	}
	b := &Begun{release: r, rest: rest}
	if made != nil {
		b.Documents = documents([]*engine.File{made})
	}
	return b, nil
}

// OfFile returns all documents of the document's template file.
func (d *Document) OfFile() []*Document { return documents([]*engine.File{d.File}) }

// Documents returns the documents of all templates before post-renderers. The values are not checked against
// the schema.
func (r *Release) Documents(ctx context.Context) ([]*Document, error) {
	other := *r
	other.SkipSchema = true // it does not change the templates' output
	_, rendering, _, err := other.execute(ctx, r.Options)
	if err != nil {
		return nil, err
	}
	return documents(rendering.Files), nil
}

// Whole returns the documents of all templates, or an error if a deployer would not apply the release. known
// are documents, by file, that are valid objects; documents with the same text are replaced with them and not
// checked again. applied are the objects that post-renderers make of documents; nil without post-renderers.
func (r *Release) Whole(ctx context.Context, known map[string][]*Document) (all []*Document, applied map[*Document][]*Object, err error) {
	_, rendering, _, err := r.execute(ctx, r.Options)
	if err != nil {
		return nil, nil, err
	}
	return r.whole(rendering, known)
}

// Whole is Release.Whole, but executes the template file again only if it is not the first. It must be called
// only once.
func (b *Begun) Whole(ctx context.Context, known map[string][]*Document) (all []*Document, applied map[*Document][]*Object, err error) {
	if b.rest == nil {
		return b.release.Whole(ctx, known)
	}
	c, values, err := b.release.Prepare() // templates may have changed the values
	if err != nil {
		return nil, nil, err
	}
	if _, err := b.release.check(c, values); err != nil {
		return nil, nil, err
	}
	rendering, err := b.rest()
	if err != nil {
		return nil, nil, problem(c, err)
	}
	return b.release.whole(rendering, known)
}

// whole returns the documents of a rendering if they can be applied.
func (r *Release) whole(rendering *engine.Rendering, known map[string][]*Document) (all []*Document, applied map[*Document][]*Object, err error) {
	all = documents(rendering.Files)
	if len(r.PostRenderers) > 0 {
		applied, err = r.Applied(all)
		return all, applied, err
	}
	var others []*Document
	for i, d := range all {
		in := known[d.File.Name]
		if same := slices.IndexFunc(in, func(k *Document) bool { return k.Text == d.Text }); same >= 0 {
			all[i] = in[same]
		} else {
			others = append(others, d)
		}
	}
	_, err = r.Applied(others)
	return all, nil, err
}

// Documents returns the documents that the templates made.
func (r *Rendered) Documents() []*Document { return documents(r.Files) }

// Applied returns the objects made of documents, by document.
func (r *Release) Applied(all []*Document) (map[*Document][]*Object, error) {
	rendered := &Rendered{}
	if err := r.become(all, rendered); err != nil {
		return nil, err
	}
	of := map[*Document][]*Object{}
	for _, o := range slices.Concat(rendered.Objects, rendered.Hooks) {
		of[o.Document] = append(of[o.Document], o)
	}
	return of, nil
}
