package render

import (
	sigsyaml "sigs.k8s.io/yaml"

	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/preadmit/preadmit/render/tree"
)

// noteBeside records entries that the search does not enter, and reports whether the entry is done.
func (d *discoverer) noteBeside(l *directory, e fs.DirEntry) bool {
	name := path.Join(l.path, e.Name())
	switch {
	case e.Type()&fs.ModeSymlink != 0: // its target does not depend on the content of this directory
		l.beside = append(l.beside, name)
		return false
	case (path.Ext(name) == ".jsonnet" || tree.IsOtherCase(name)) && e.Type().IsRegular(), d.isSubmodule(name):
		l.beside = append(l.beside, name)
		return true
	}
	return e.Name() == ".git" && e.IsDir()
}

func (d *discoverer) isSubmodule(name string) bool {
	_, ok := d.tree.Submodule(name)
	return ok
}

// findGaps adds the gaps of all directories, once the roots are known.
func (d *discoverer) findGaps() {
	roots, plain, abovePlain := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, r := range d.out.Roots {
		roots[r.Dir] = true
		if plain[r.Dir] = r.Kind == KindPlain; plain[r.Dir] {
			for dir := path.Dir(r.Dir); dir != "."; dir = path.Dir(dir) {
				abovePlain[dir] = true
			}
		}
	}
	d.testGaps()
	for _, l := range d.dirs {
		if d.inTest(l.path) {
			continue
		}
		if l.component() && !d.use(l.path).reached[l.path] {
			d.addGap(Gap{Position: tree.Position{Path: l.path}, Kind: GapComponent, Root: RootID{Dir: l.path}, Identity: string(newCacheKey(d.sourceOf(l).Reads(l.path).Entries()...))})
		}
		for _, name := range l.manifests {
			if len(l.rootFiles) > 0 && !d.use(l.path).files[d.real(name)] {
				d.out.Unlisted = append(d.out.Unlisted, name)
			}
		}
		if l.chart && d.isChart(l.path) && !d.isLibrary(l.path) {
			d.addGap(Gap{Position: tree.Position{Path: l.path}, Kind: GapChart, Root: RootID{Dir: l.path}, Identity: d.contentID(l.path)})
		}
		d.gapTools(l)
		root, below := nearest(l.path, plain)
		if !below {
			root = l.path
		}
		for _, name := range l.beside {
			if d.isUnread(l, name) {
				continue
			}
			d.gapBeside(name, root, below, d.mayBePlain(l) && (below || abovePlain[l.path]), roots)
		}
	}
}

// gapTools adds a gap for each file that Rancher Fleet or Helmfile deploys from.
func (d *discoverer) gapTools(l *directory) {
	for _, name := range l.manifests {
		base := path.Base(name)
		switch whole, ok := d.isBundle(name); {
		case ok && whole && l.path != ".":
			d.addGap(Gap{Position: tree.Position{Path: name}, Kind: GapFleet, Root: RootID{Dir: l.path}, Identity: d.contentID(l.path)})
		case ok && whole:
			d.addGap(Gap{Position: tree.Position{Path: name}, Kind: GapFleet, Root: RootID{Dir: l.path}, Identity: d.filesID(l.manifests)})
		case ok:
			d.addGap(Gap{Position: tree.Position{Path: name}, Kind: GapFleet, Root: RootID{Dir: l.path}, Identity: d.filesID([]string{name})})
		case base == "helmfile.yaml" || base == "helmfile.yml" || path.Base(l.path) == "helmfile.d":
			d.addGap(Gap{Position: tree.Position{Path: name}, Kind: GapHelmfile, Root: RootID{Dir: l.path}, Identity: d.filesID(l.manifests)})
		}
	}
}

// isBundle reports whether a file makes its directory a bundle of Rancher Fleet
// (https://fleet.rancher.io/ref-fleet-yaml). whole is set if the bundle is more than the manifests in it, which are
// judged.
func (d *discoverer) isBundle(name string) (whole, ok bool) {
	if path.Base(name) != "fleet.yaml" {
		return false, false
	}
	var bundle map[string]any
	data, _, err := d.tree.Load(name, tree.NewTrace())
	if err != nil || sigsyaml.Unmarshal(data, &bundle) != nil || bundle["apiVersion"] != nil {
		return false, false
	}
	for field := range bundle {
		whole = whole || slices.Contains([]string{"helm", "kustomize", "overlays", "targetCustomizations", "targets", "yaml"}, field)
		ok = ok || slices.Contains([]string{"defaultNamespace", "namespace", "dependsOn", "diff", "labels", "paused"}, field)
	}
	return whole, ok || whole
}

// isUnread reports whether a file has an extension that deployers do not read in a directory. If it holds objects,
// isUnread adds the gap.
func (d *discoverer) isUnread(l *directory, name string) bool {
	to := d.tree.Resolve(name)
	if !tree.IsOtherCase(name) || to.Err != nil || to.IsDir {
		return false
	}
	used := d.use(l.path)
	if data, real, err := d.tree.Load(name, tree.NewTrace()); !l.template && !used.covers(l.path) && !used.files[to.Real] && d.mayBeManifest(real, data, err) {
		id, _ := d.tree.Identity(to.Real) // Load has read it
		d.addGap(Gap{Position: tree.Position{Path: name}, Kind: GapExtension, Root: RootID{Dir: l.path}, Identity: id})
	}
	return true
}

// gapBeside adds the gap for a path in directory.beside. root is the nearest plain root at or above the directory, if
// below is set. near is set when the directory is close enough to a plain root to be applied with it.
func (d *discoverer) gapBeside(name, root string, below, near bool, roots map[string]bool) {
	to := d.tree.Resolve(name)
	switch commit, ok := d.tree.Submodule(name); {
	case ok:
		d.addGap(Gap{Position: tree.Position{Path: name}, Kind: GapSubmodule, Root: RootID{Dir: root}, Identity: commit})
	case len(to.Links) > 0:
		if to.IsDir && d.holdsRoot(to.Real, roots) {
			id, _ := d.tree.Identity(name) // Resolve succeeded
			d.addGap(Gap{Position: tree.Position{Path: name}, Kind: GapLink, Root: RootID{Dir: name}, Identity: id})
		}
	case path.Ext(name) == ".jsonnet":
		if below && near {
			id, _ := d.tree.Identity(name)
			d.addGap(Gap{Position: tree.Position{Path: name}, Kind: GapJsonnet, Root: RootID{Dir: root}, Identity: id})
		}
	}
}

// holdsRoot reports whether a root is at, above or below a directory, or may be there because the directory was not
// searched.
func (d *discoverer) holdsRoot(dir string, roots map[string]bool) bool {
	at, ok := d.extents[dir]
	if !ok { // it was not searched
		return true
	}
	if _, above := nearest(dir, roots); above {
		return true
	}
	for _, l := range d.dirs[at.from:at.to] {
		if roots[l.path] {
			return true
		}
	}
	return false
}

// addGap adds a gap, unless its path already has one.
func (d *discoverer) addGap(o Gap) {
	if !d.reported[o.Path] {
		d.reported[o.Path] = true
		d.out.Gaps = append(d.out.Gaps, o)
	}
}

// isChart reports whether a directory is the topmost one of a chart that no kustomization uses. An umbrella chart has
// no templates of its own.
func (d *discoverer) isChart(dir string) bool {
	if d.use(dir).covers(dir) {
		return false
	}
	for above := dir; above != "."; {
		above = path.Dir(above)
		if at, ok := d.extents[above]; ok && d.dirs[at.from].chart {
			return false
		}
	}
	at, ok := d.extents[dir]
	return ok && d.dirs[at.from].chart
}

// isLibrary reports whether a chart is a library chart, which renders no objects by itself.
func (d *discoverer) isLibrary(dir string) bool {
	data, _, err := d.tree.Load(path.Join(dir, "Chart.yaml"), tree.NewTrace())
	var chart struct {
		Type string `json:"type"`
	}
	return err == nil && sigsyaml.Unmarshal(data, &chart) == nil && chart.Type == "library"
}

// mayBeManifest reports whether a file may be intended as a manifest. data and err are the result of loading it.
func (d *discoverer) mayBeManifest(real string, data []byte, err error) bool {
	if err != nil || !tree.MayHoldObject(data) {
		return err != nil && !errors.Is(err, fs.ErrNotExist)
	}
	f := d.tree.DecodeManifest(real, data)
	return ManifestProblem(f) != nil || slices.ContainsFunc(f.Documents, func(doc tree.Decoded) bool { return len(doc.Objects) > 0 })
}

// contentID returns an identity of the content of a directory.
func (d *discoverer) contentID(dir string) string {
	h := sha256.New()
	_ = fs.WalkDir(d.tree.Fsys, dir, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			_, _ = fmt.Fprintf(h, "%q %v\n", name, err)
		case !e.IsDir():
			id, err := d.tree.Identity(name)
			_, _ = fmt.Fprintf(h, "%q %s %v\n", name, id, err)
		}
		return nil
	})
	return hex.EncodeToString(h.Sum(nil))
}

// nearest returns the nearest directory of a set at or above a directory.
func nearest(dir string, some map[string]bool) (found string, ok bool) {
	for ; dir != "." && !some[dir]; dir = path.Dir(dir) {
	}
	return dir, some[dir]
}
