package deploy

import (
	"path"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/flux"
)

// syncFile is what `flux bootstrap` writes the Kustomization into that it makes.
const syncFile = "gotk-sync.yaml"

// bootstrapped adds the entry points of directories that `flux bootstrap` made.
func (e *expander) bootstrapped() error {
	for _, name := range e.renderer.ManifestsCalled(syncFile) {
		dir := path.Dir(name)
		if dir == "." {
			continue
		}
		if err := e.addBootstrapped(dir); err != nil {
			return err
		}
	}
	return nil
}

// addBootstrapped adds the entry point of a directory with a sync file, which may be empty
// until the bootstrap. Its Kustomization is the one that the file holds, as the kustomization of
// the directory patches it.
func (e *expander) addBootstrapped(dir string) error {
	file := path.Join(dir, syncFile)
	root := render.Root{RootID: render.RootID{Kind: render.KindPlain, Dir: dir}, Files: []string{file}}
	written := e.renderer.Render(e.ctx, root)
	k, ok := e.bootstrapOf(dir, holds(written, flux.Kind))
	if !ok {
		n := e.addImplied(path.Dir(dir), sourceOf(path.Base(dir)))
		n.cluster.bootstrap = append(n.cluster.bootstrap, e.holding(dir)...)
		return nil
	}
	if built, ok := e.renderer.At(dir); ok && built.Kind != render.KindPlain {
		if err := e.render([]render.Root{built}); err != nil {
			return err
		}
		for _, patched := range holds(e.results[built.RootID], flux.Kind) {
			if patched.ref() == k.ref() {
				root, k = built, patched
				break
			}
		}
	}
	if e.results[root.RootID] == nil { // it may be another root's identity
		e.results[root.RootID] = written
	}
	parsed, err := flux.Parse(k.object.JSON)
	if err == nil {
		e.addEntry(e.dirOf(parsed), k, append([]render.RootID{root.RootID}, e.holding(dir)...))
	}
	return nil
}

// bootstrapOf is the Kustomization of a sync file that applies its directory or the one above, else
// the first.
func (e *expander) bootstrapOf(dir string, all []held) (found held, ok bool) {
	for _, k := range all {
		parsed, err := flux.Parse(k.object.JSON)
		if err != nil {
			continue
		}
		if at := e.dirOf(parsed); at == dir || at == path.Dir(dir) {
			return k, true
		}
		if !ok {
			found, ok = k, true
		}
	}
	return found, ok
}

// holding are the discovered roots that use what `flux bootstrap` wrote into a directory.
func (e *expander) holding(dir string) (holding []render.RootID) {
	e.indexFiles()
	for _, name := range []string{path.Join(dir, syncFile), path.Join(dir, "kustomization.yaml")} {
		for _, id := range e.files[name] {
			if !slices.Contains(holding, id) {
				holding = append(holding, id)
			}
		}
	}
	return holding
}
