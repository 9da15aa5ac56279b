package render

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// LeftOut is something that a cluster may be given by what applies the tree, but that is
// in no root.
type LeftOut struct {
	Path string
	Kind LeftOutKind
	// Root is the path of the plain root that it is in or below; of a chart, its own path.
	Root string
	// ID is of the content: equal ones are of equal contents.
	ID string
}

// LeftOutKind says what is left out.
type LeftOutKind string

const (
	// LeftOutSubmodule is a git submodule below a plain root: Argo CD and Flux check it out.
	LeftOutSubmodule LeftOutKind = "submodule"
	// LeftOutHidden is a file with objects, in a directory below a plain root whose name
	// begins with a dot: kubectl and Argo CD go there when they recurse.
	LeftOutHidden LeftOutKind = "hidden manifest"
	// LeftOutChart is the directory of a Helm chart that no kustomization uses.
	LeftOutChart LeftOutKind = "chart"
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

// leaveOut notes what the search does not go into.
func (d *discoverer) leaveOut(l *listing, e fs.DirEntry) bool {
	name := path.Join(l.path, e.Name())
	if e.IsDir() || e.Type()&fs.ModeIrregular != 0 {
		if _, ok := d.tree.submodule(name); ok {
			l.submodules = append(l.submodules, name)
			return true
		}
	}
	if !e.IsDir() || !strings.HasPrefix(e.Name(), ".") {
		return false
	}
	if e.Name() != ".git" {
		l.hidden = append(l.hidden, name)
	}
	return true
}

// tellLeftOut lists what is left out once the roots are known.
func (d *discoverer) tellLeftOut() {
	plain := map[string]bool{}
	for _, r := range d.out.Roots {
		plain[r.Path] = r.Kind == KindPlain
	}
	for _, l := range d.dirs {
		if chart := path.Dir(l.path); l.template && path.Base(l.path) == "templates" && d.isChart(chart) {
			d.leftOut(LeftOut{Path: chart, Kind: LeftOutChart, Root: chart, ID: d.contentID(chart)})
		}
		root, ok := nearest(l.path, plain)
		if !ok || !d.mayBePlain(l) {
			continue
		}
		for _, name := range l.submodules {
			commit, _ := d.tree.submodule(name)
			d.leftOut(LeftOut{Path: name, Kind: LeftOutSubmodule, Root: root, ID: commit})
		}
		for _, name := range l.hidden {
			d.tellHidden(name, root)
		}
	}
}

func (d *discoverer) leftOut(o LeftOut) { d.out.LeftOut = append(d.out.LeftOut, o) }

// isChart tells the uppermost directory of a chart that no kustomization uses.
func (d *discoverer) isChart(dir string) bool {
	if d.used.covers(dir) {
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
		data, real, err := d.tree.load(name, newTrace())
		if err != nil || !mayHoldObject(data) {
			return nil
		}
		for _, doc := range d.tree.decodeManifest(real, data).documents {
			if len(doc.objects) > 0 || doc.object && !doc.template {
				id, _ := d.tree.identity(real)
				d.leftOut(LeftOut{Path: name, Kind: LeftOutHidden, Root: root, ID: id})
				return nil
			}
		}
		return nil
	})
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
