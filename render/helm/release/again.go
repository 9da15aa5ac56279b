package release

import (
	"context"
	"slices"
)

// Documents returns the documents that one template file makes, or all if file is empty, with other
// values and before post-renderers. It costs a small part of Render.
func (r *Release) Documents(ctx context.Context, user map[string]any, file string) ([]*Document, error) {
	other, opts := *r, r.Options
	other.Values = user
	other.SkipSchema = true // which says nothing about what templates make of values
	if file != "" {
		opts.Only = func(name string) bool { return name == file }
	}
	_, rendering, _, err := other.execute(ctx, opts)
	if err != nil {
		return nil, err
	}
	return documents(rendering.Files), nil
}

// Whole returns the documents of all templates; it is an error where a deployer would not apply the release. Of the
// documents known, which are objects, by their files, those that are the same again are returned as they are. applied are
// the objects of documents that passed post-renderers, nil without such.
func (r *Release) Whole(ctx context.Context, known map[string][]*Document) (all []*Document, applied map[*Document][]*Object, err error) {
	_, rendering, _, err := r.execute(ctx, r.Options)
	if err != nil {
		return nil, nil, err
	}
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

// Applied are the objects that documents become, by these.
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
