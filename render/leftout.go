package render

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// LeftOut is something that a cluster may be given by what applies the tree, but that is
// in no root.
type LeftOut struct {
	Path string
	Kind LeftOutKind
	// Root is the path of the plain root that it is in or below; of a chart or Component, its own path.
	Root string
	// ID is of the content: equal ones are of equal contents.
	ID string
}

// LeftOutKind says what is left out.
type LeftOutKind string

const (
	// LeftOutSubmodule is a git submodule: Argo CD and Flux check it out.
	LeftOutSubmodule LeftOutKind = "submodule"
	// LeftOutHidden is a file with objects, in a directory whose name begins with a dot,
	// near a plain root: kubectl and Argo CD go there when they recurse.
	LeftOutHidden LeftOutKind = "hidden manifest"
	// LeftOutChart is the directory of a Helm chart that no kustomization uses.
	LeftOutChart LeftOutKind = "chart"
	// LeftOutUnused is a manifest that no kustomization uses, beside one that one uses.
	LeftOutUnused LeftOutKind = "unused manifest"
	// LeftOutLink is a symbolic link to a directory with roots: what is applied by its path
	// changes when it leads elsewhere.
	LeftOutLink LeftOutKind = "symbolic link"
	// LeftOutTemplate is a file that looks like a template of a manifest.
	LeftOutTemplate LeftOutKind = "template"
	// LeftOutPointer is a Git LFS pointer to JSON, beside manifests.
	LeftOutPointer LeftOutKind = "Git LFS pointer"
	// LeftOutJsonnet is a file in or below a plain root that Argo CD evaluates.
	LeftOutJsonnet LeftOutKind = "jsonnet"
	// LeftOutComponent is the directory of a Component that no root uses.
	LeftOutComponent LeftOutKind = "component"
)

// submodules is a file system that knows git submodules, as a git tree does.
type submodules interface {
	// Submodule is the commit that the submodule at a path is at, in hex, if there is one.
	Submodule(name string) (commit string, ok bool)
}

// submodule is the commit of the git submodule at a path, if there is one.
func (t *tree) submodule(name string) (commit string, ok bool) {
	known, ok := t.fsys.(submodules)
	if !ok {
		return "", false
	}
	return known.Submodule(name)
}

// leaveOut notes what the search does not go into, and tells whether that is all there is
// to say of it.
func (d *discoverer) leaveOut(l *listing, e fs.DirEntry) bool {
	name := path.Join(l.path, e.Name())
	switch {
	case e.Type()&fs.ModeSymlink != 0: // where it leads is not for this directory to say
		l.beside = append(l.beside, name)
		return false
	case path.Ext(name) == ".jsonnet" && e.Type().IsRegular():
	case !e.IsDir() && e.Type()&fs.ModeIrregular == 0:
		return false
	case d.isSubmodule(name):
	case e.Name() == ".git":
		return true
	case !e.IsDir() || !strings.HasPrefix(e.Name(), "."):
		return false
	}
	l.beside = append(l.beside, name)
	return true
}

func (d *discoverer) isSubmodule(name string) bool {
	_, ok := d.tree.submodule(name)
	return ok
}

// tellLeftOut lists what is left out once the roots are known.
func (d *discoverer) tellLeftOut() {
	roots, plain, abovePlain := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, r := range d.out.Roots {
		roots[r.Dir] = true
		if plain[r.Dir] = r.Kind == KindPlain; plain[r.Dir] {
			for dir := path.Dir(r.Dir); dir != "."; dir = path.Dir(dir) {
				abovePlain[dir] = true
			}
		}
	}
	for _, l := range d.dirs {
		if l.component() && !d.use(l.path).reached[l.path] {
			d.leftOut(LeftOut{Path: l.path, Kind: LeftOutComponent, Root: l.path, ID: string(newCacheKey(d.tree.closureTrace(l.path).words()...))})
		}
		if l.chart && d.isChart(l.path) {
			d.leftOut(LeftOut{Path: l.path, Kind: LeftOutChart, Root: l.path, ID: d.contentID(l.path)})
		}
		root, below := nearest(l.path, plain)
		if !below {
			root = l.path
		}
		for _, name := range l.beside {
			d.tellBeside(name, root, below, d.mayBePlain(l) && (below || abovePlain[l.path]), roots)
		}
	}
}

// tellBeside is for one thing beside the manifests of a directory. below tells whether that
// is a plain root or below one, near whether one is near enough to be applied together.
func (d *discoverer) tellBeside(name, root string, below, near bool, roots map[string]bool) {
	to := d.tree.resolve(name)
	switch commit, ok := d.tree.submodule(name); {
	case ok:
		d.leftOut(LeftOut{Path: name, Kind: LeftOutSubmodule, Root: root, ID: commit})
	case len(to.links) > 0:
		if to.isDir && d.holdsRoot(to.real, roots) {
			id, _ := d.tree.identity(name) // it was resolved
			d.leftOut(LeftOut{Path: name, Kind: LeftOutLink, Root: name, ID: id})
		}
	case path.Ext(name) == ".jsonnet":
		if below && near {
			id, _ := d.tree.identity(name)
			d.leftOut(LeftOut{Path: name, Kind: LeftOutJsonnet, Root: root, ID: id})
		}
	case near:
		d.tellHidden(name, root)
	}
}

// holdsRoot tells whether a root is at, above or below a directory, or may be below since it
// is hidden.
func (d *discoverer) holdsRoot(dir string, roots map[string]bool) bool {
	at, ok := d.extents[dir]
	if !ok { // nothing was searched there
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

// leftOut lists something once, as what it was found to be first.
func (d *discoverer) leftOut(o LeftOut) {
	if !d.told[o.Path] {
		d.told[o.Path] = true
		d.out.LeftOut = append(d.out.LeftOut, o)
	}
}

// isChart tells the uppermost directory of a chart that no kustomization uses. An umbrella
// chart has no templates of its own.
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

// tellHidden lists the manifests in a hidden directory.
func (d *discoverer) tellHidden(dir, root string) {
	_ = fs.WalkDir(d.tree.fsys, dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !isManifestName(name) {
			return nil // what cannot be listed is not applied either
		}
		if data, real, err := d.tree.load(name, newTrace()); d.mayMean(real, data, err) {
			id, _ := d.tree.identity(d.real(name))
			d.leftOut(LeftOut{Path: name, Kind: LeftOutHidden, Root: root, ID: id})
		}
		return nil
	})
}

// mayMean tells whether a file that was read, or not, may be meant as a manifest.
func (d *discoverer) mayMean(real string, data []byte, err error) bool {
	if err != nil || !mayHoldObject(data) {
		return err != nil && !errors.Is(err, fs.ErrNotExist)
	}
	f := d.tree.decodeManifest(real, data)
	return f.problem() != nil || slices.ContainsFunc(f.documents, func(doc decoded) bool { return len(doc.objects) > 0 })
}

// contentID names what a directory holds.
func (d *discoverer) contentID(dir string) string {
	h := sha256.New()
	_ = fs.WalkDir(d.tree.fsys, dir, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			_, _ = fmt.Fprintf(h, "%q %v\n", name, err)
		case !e.IsDir():
			id, err := d.tree.identity(name)
			_, _ = fmt.Fprintf(h, "%q %s %v\n", name, id, err)
		}
		return nil
	})
	return hex.EncodeToString(h.Sum(nil))
}

// nearest is the first of some directories at or above one.
func nearest(dir string, some map[string]bool) (found string, ok bool) {
	for ; dir != "." && !some[dir]; dir = path.Dir(dir) {
	}
	return dir, some[dir]
}
