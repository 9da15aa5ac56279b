package engine

import (
	"context"
	"text/template"
)

// Name executes the template of a release's name, as `helm template --name-template` does. chance is set when
// the name differs each time.
func Name(ctx context.Context, text string) (name string, chance bool, err error) {
	e := New()
	r := newRun(ctx, e, Options{Limits: Limits{Steps: 10_000, Work: 1 << 20, Output: 1 << 16, Value: 1 << 16}})
	defer func() {
		if failure := recover(); failure != nil {
			name, err = "", r.panicked(failure)
		}
	}()
	root := template.New(tplName)
	if err := e.add(root, "name-template", text); err != nil {
		return "", false, err
	}
	root.Funcs(r.functions(root))
	made, err := r.call(func(w *frame) error { return root.ExecuteTemplate(w, "name-template", nil) })
	if err != nil {
		return "", false, r.failed("name-template", err)
	}
	return made.text, len(r.chance.calls) > 0, nil
}
