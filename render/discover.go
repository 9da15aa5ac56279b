package render

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

// Discover finds the roots of the tree: directories with a kustomization file
// that no other kustomization uses and that is no Component, and directories
// that directly hold Kubernetes manifests, have no kustomization file and whose
// files no kustomization reads. Kustomizations that only use each other in a
// cycle are represented by the first of them. Directories whose name starts
// with a dot are not searched.
//
// The error is ctx's, or the failure to list the tree's top; everything else is
// told by diagnostics.
func (r *Renderer) Discover(ctx context.Context) (*Discovery, error) {
	d := &discoverer{tree: r.tree, used: newUsage()}
	if err := d.search(ctx, "."); err != nil {
		return nil, fmt.Errorf("search the tree for manifests: %w", err)
	}
	for _, dir := range d.dirs {
		d.readKustomization(dir)
	}
	d.kustomizeRoots()
	d.decodeAhead(ctx)
	for _, dir := range d.dirs {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("search the tree for manifests: %w", err)
		}
		d.plainRoot(dir)
	}
	slices.SortFunc(d.out.Roots, func(a, b Root) int { return strings.Compare(a.Path, b.Path) })
	slices.SortStableFunc(d.out.Diagnostics, func(a, b Diagnostic) int { return comparePositions(a.Position, b.Position) })
	return &d.out, nil
}

func comparePositions(a, b Position) int {
	if c := strings.Compare(a.Path, b.Path); c != 0 {
		return c
	}
	if a.Line != b.Line {
		return a.Line - b.Line
	}
	return a.Column - b.Column
}

// discoverer gathers what a tree holds.
type discoverer struct {
	tree *tree
	dirs []*listing
	used usage
	out  Discovery
}

// listing is what matters of one directory.
type listing struct {
	path           string
	kustomizations []string // names of kustomization files
	manifests      []string // paths of files that may be manifests
	chart          bool     // has a Chart.yaml
	template       bool     // is, or is below, the templates directory of a chart

	spec *kustomization
	uses []string // directories its kustomization uses
}

// usage is what the kustomizations of a tree read.
type usage struct {
	files map[string]bool
	dirs  map[string]bool // with everything below
	// bases are directories used as a base, component or plugin build by another
	// directory.
	bases map[string]bool
}

func newUsage() usage {
	return usage{files: map[string]bool{}, dirs: map[string]bool{}, bases: map[string]bool{}}
}

func (u usage) covers(dir string) bool {
	for ; dir != "."; dir = path.Dir(dir) {
		if u.dirs[dir] {
			return true
		}
	}
	return false
}

// search lists a directory and those below it, in lexical order.
func (d *discoverer) search(ctx context.Context, dir string) error {
	return d.searchBelow(ctx, &listing{path: dir})
}

func (d *discoverer) searchBelow(ctx context.Context, l *listing) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := fs.ReadDir(d.tree.fsys, l.path)
	if err != nil {
		if l.path == "." {
			return err
		}
		d.diagnose(SeverityError, Position{Path: l.path}, "cannot be listed: %v", err)
		return nil
	}
	var below []*listing
	for _, e := range entries {
		if e.IsDir() {
			below = append(below, &listing{path: path.Join(l.path, e.Name())})
			continue
		}
		d.note(l, e)
	}
	d.dirs = append(d.dirs, l)
	for _, sub := range below {
		base := path.Base(sub.path)
		if strings.HasPrefix(base, ".") {
			continue
		}
		sub.template = l.template || (l.chart && base == "templates")
		if err := d.searchBelow(ctx, sub); err != nil {
			return err
		}
	}
	return nil
}

// note sorts a file by its name.
func (d *discoverer) note(l *listing, e fs.DirEntry) {
	name := path.Join(l.path, e.Name())
	switch ext := path.Ext(e.Name()); {
	case isKustomizationName(e.Name()):
		l.kustomizations = append(l.kustomizations, e.Name())
	case e.Name() == "Chart.yaml":
		l.chart = true
	case ext == ".yaml" || ext == ".yml" || ext == ".json":
		l.manifests = append(l.manifests, name)
	}
}

func (d *discoverer) diagnose(s Severity, pos Position, format string, args ...any) {
	d.out.Diagnostics = append(d.out.Diagnostics, Diagnostic{Severity: s, Position: pos, Message: fmt.Sprintf(format, args...)})
}

// readKustomization notes what the kustomization of a directory uses.
func (d *discoverer) readKustomization(l *listing) {
	if len(l.kustomizations) > 1 {
		d.diagnose(SeverityError, Position{Path: path.Join(l.path, l.kustomizations[1])},
			"there is more than one kustomization file in this directory: %s", strings.Join(l.kustomizations, ", "))
	}
	for _, name := range l.kustomizations {
		full := path.Join(l.path, name)
		trace := newTrace()
		data, real, err := d.tree.load(full, trace)
		if err != nil {
			p := unreadable(full, err)
			d.diagnose(SeverityError, p.Position, "%s", p.Message)
			continue
		}
		k := d.tree.kustomization(full, trace.Reads[real], data)
		if l.spec == nil {
			l.spec = k
		}
		d.use(l, k)
	}
}

// use notes the files and directories a kustomization names.
func (d *discoverer) use(l *listing, k *kustomization) {
	for _, r := range k.refs() {
		if r.kind == refPlugin {
			d.usePlugin(l, k, r)
			continue
		}
		if r.kind != refInline {
			d.useTarget(l, path.Join(k.dir, r.value))
		}
	}
	files, dirs := k.helmFiles()
	for _, f := range files {
		d.used.files[d.real(path.Join(k.dir, f))] = true
	}
	for _, dir := range dirs {
		d.used.dirs[d.real(path.Join(k.dir, dir))] = true
	}
}

// useTarget notes a file, or a directory as a base. A kustomization that uses
// its own directory does not use another.
func (d *discoverer) useTarget(l *listing, target string) {
	to := d.tree.resolve(target)
	switch {
	case to.err != nil:
	case !to.isDir:
		d.used.files[to.real] = true
	case to.real != l.path:
		d.used.bases[to.real] = true
		l.uses = append(l.uses, to.real)
	}
}

// usePlugin notes plugin configuration and the files it names.
func (d *discoverer) usePlugin(l *listing, k *kustomization, r ref) {
	data := []byte(r.value)
	if !text(r.value) {
		target := path.Join(k.dir, r.value)
		d.useTarget(l, target)
		var err error
		if data, _, err = d.tree.load(target, newTrace()); err != nil {
			return
		}
	}
	for _, p := range pluginFiles(data) {
		target := path.Join(k.dir, p)
		if to := d.tree.resolve(target); to.err == nil && !to.isDir {
			d.used.files[to.real] = true
		}
	}
}

func (d *discoverer) real(name string) string {
	if to := d.tree.resolve(name); to.err == nil {
		return to.real
	}
	return name
}

// kustomizeRoots picks the kustomizations nothing else uses.
func (d *discoverer) kustomizeRoots() {
	byPath := make(map[string]*listing)
	for _, l := range d.dirs {
		if len(l.kustomizations) > 0 {
			byPath[l.path] = l
		}
	}
	reached := make(map[string]bool)
	for _, l := range d.dirs {
		if byPath[l.path] == nil || d.used.bases[l.path] {
			continue
		}
		reach(l.path, byPath, reached)
		if !l.component() {
			d.addRoot(Root{Path: l.path, Kind: KindKustomize})
		}
	}
	// What is left is used, but by nothing that is ever rendered: cycles.
	for _, l := range d.dirs {
		if byPath[l.path] != nil && !reached[l.path] {
			reach(l.path, byPath, reached)
			d.addRoot(Root{Path: l.path, Kind: KindKustomize})
		}
	}
}

func (l *listing) component() bool { return l.spec != nil && l.spec.spec.Kind == "Component" }

func (d *discoverer) addRoot(r Root) { d.out.Roots = append(d.out.Roots, r) }

// reach marks what a kustomization uses, directly or not.
func reach(dir string, byPath map[string]*listing, reached map[string]bool) {
	l := byPath[dir]
	if l == nil || reached[dir] {
		return
	}
	reached[dir] = true
	for _, next := range l.uses {
		reach(next, byPath, reached)
	}
}

// partlyUsed tells of manifests that nobody uses beside one that a kustomization
// does: they are no root, so nothing judges them.
func (d *discoverer) partlyUsed(l *listing, used string) {
	var left []string
	for _, name := range l.manifests {
		if !d.used.files[d.real(name)] && d.isManifest(name) {
			left = append(left, path.Base(name))
		}
	}
	if len(left) > 0 {
		d.diagnose(SeverityWarning, Position{Path: path.Join(l.path, left[0])},
			"not judged, because no kustomization uses it though one uses %s beside it: %s", path.Base(used), strings.Join(left, ", "))
	}
}

// mayBePlain tells whether a directory has nothing to do with kustomize.
func (d *discoverer) mayBePlain(l *listing) bool {
	return len(l.kustomizations) == 0 && !l.template && !d.used.covers(l.path)
}

// usedManifest is the first manifest of a directory that a kustomization uses.
func (d *discoverer) usedManifest(l *listing) string {
	for _, name := range l.manifests {
		if d.used.files[d.real(name)] {
			return name
		}
	}
	return ""
}

// decodeAhead decodes the files of all plain roots on all cores, so that looking
// at one after the other costs nothing. What cannot be read is told then.
func (d *discoverer) decodeAhead(ctx context.Context) {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, l := range d.dirs {
		if !d.mayBePlain(l) || d.usedManifest(l) != "" {
			continue
		}
		for _, name := range l.manifests {
			group.Go(func() error {
				if data, real, err := d.tree.load(name, newTrace()); err == nil && mayHoldObject(data) && ctx.Err() == nil {
					d.tree.decodeManifest(real, data)
				}
				return nil
			})
		}
	}
	_ = group.Wait()
}

// plainRoot adds a directory of manifests that has nothing to do with kustomize.
func (d *discoverer) plainRoot(l *listing) {
	if !d.mayBePlain(l) {
		return
	}
	if used := d.usedManifest(l); used != "" {
		d.partlyUsed(l, used)
		return
	}
	root := Root{Path: l.path, Kind: KindPlain}
	for _, name := range l.manifests {
		if d.isManifest(name) {
			root.Files = append(root.Files, name)
		}
	}
	if len(root.Files) > 0 {
		d.addRoot(root)
	}
}
