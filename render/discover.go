package render

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/preadmit/preadmit/render/tree"
)

// Discover finds the roots of the tree: directories with a kustomization file
// that no other kustomization uses and that is no Component, and directories
// that directly hold Kubernetes manifests, have no kustomization file and whose
// files no kustomization reads. Kustomizations that only use each other in a
// cycle are represented by the first of them. Resources of Components that no root
// uses do not count as used. Submodules, charts and .git are not searched, and tests of
// Chainsaw, kuttl and Kyverno and what is in directories named testdata are no roots.
//
// The error is ctx's, or the failure to list the tree's top; everything else is a
// diagnostic.
func (r *Renderer) Discover(ctx context.Context) (*Discovery, error) {
	return r.DiscoverSelected(ctx, Selection{})
}

// Selection selects parts of a tree.
type Selection struct {
	// Dirs reports whether a directory is selected. A selected directory is a root even if kustomizations outside of
	// the selection use it. Nil selects all.
	Dirs func(dir string) bool
	// TestData reports whether a directory in test data is searched nevertheless, because the user named it; nil for
	// none.
	TestData func(dir string) bool
}

// DiscoverSelected is like Discover, but limited to a selection.
func (r *Renderer) DiscoverSelected(ctx context.Context, s Selection) (*Discovery, error) {
	d := &discoverer{sources: r.sources, seen: map[string]bool{}, tree: r.tree, selected: s.Dirs, testData: s.TestData, extents: map[string]dirRange{}, problems: map[string]*Problem{}, pointers: map[string]bool{}, reported: map[string]bool{}, shared: r.shared()}
	d.reading.SetLimit(runtime.GOMAXPROCS(0))
	err := d.search(ctx, ".")
	_ = d.reading.Wait() // what cannot be read becomes a diagnostic
	if err != nil {
		return nil, fmt.Errorf("search the tree for manifests: %w", err)
	}
	d.findTests()
	d.kustomizeRoots()
	d.decodeAhead(ctx)
	for _, dir := range d.dirs {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("search the tree for manifests: %w", err)
		}
		d.plainRoot(dir)
	}
	d.findGaps()
	slices.SortFunc(d.out.Roots, func(a, b Root) int { return a.Compare(b.RootID) })
	slices.SortStableFunc(d.out.Diagnostics, func(a, b Diagnostic) int { return tree.ComparePositions(a.Position, b.Position) })
	r.found.Store(d)
	return &d.out, nil
}

// discoverer collects the contents of a tree.
type discoverer struct {
	tree    *tree.Tree
	sources []Source
	dirs    []*directory
	// extents are the ranges in dirs of a directory with its descendants, by path.
	extents map[string]dirRange
	// selected reports whether a directory is selected; nil for all.
	selected func(dir string) bool
	// used is what is used in the whole tree, usedInside what selected roots use.
	used, usedInside *usage
	out              Discovery
	// seen tells whether files are manifests, by path.
	seen map[string]bool
	// problems are the reasons why manifests cannot be rendered, by path.
	problems map[string]*Problem
	// pointers are the Git LFS pointers that probably stand for data, by path.
	pointers map[string]bool
	// tests are the directories that are tests, including all directories below.
	tests map[string]bool
	// testData is Selection.TestData.
	testData func(dir string) bool
	// reported are the paths that already have a gap.
	reported map[string]bool
	// reading runs the reading of kustomizations.
	reading errgroup.Group
	// shared are the directories that another tree has as well; nil if there is none.
	shared *shared
}

// dirRange is a half-open range of indexes in a list of directories.
type dirRange struct{ from, to int }

// directory is what was found in a directory.
type directory struct {
	path      string
	rootFiles []string // names of kustomization files
	manifests []string // paths of files that may be manifests
	chart     bool     // has a Chart.yaml
	template  bool     // is, or is below, the templates directory of a chart
	broken    bool     // cannot be listed
	beside    []string // other paths that may be gaps: see noteBeside

	// uses is what its root files use; nil if it has none.
	uses *Uses
	// holds tells whether manifests hold objects, for manifests without a diagnostic, by path.
	holds map[string]bool
	// same is the directory at this path in the other tree if both have the same content. top is the highest such
	// directory at or above this one.
	same *directory
	top  string
}

// search lists a directory and its descendants, in lexical order.
func (d *discoverer) search(ctx context.Context, dir string) error {
	return d.searchBelow(ctx, &directory{path: dir})
}

func (d *discoverer) searchBelow(ctx context.Context, l *directory) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	from := len(d.dirs)
	defer func() { d.extents[l.path] = dirRange{from, len(d.dirs)} }()
	if d.shared.list(d, l) {
		return nil
	}
	entries, err := fs.ReadDir(d.tree.Fsys, l.path)
	if err != nil {
		if l.path == "." {
			return err
		}
		l.broken = true
		d.add(l)
		d.addGap(Gap{Position: tree.Position{Path: l.path}, Kind: GapUnlisted, Root: RootID{Dir: l.path}, Identity: err.Error(), Why: err.Error()})
		return nil
	}
	var below []*directory
	for _, e := range entries {
		if d.noteBeside(l, e) {
			continue
		}
		if e.IsDir() {
			below = append(below, &directory{path: path.Join(l.path, e.Name())})
			continue
		}
		d.note(l, e)
	}
	d.add(l)
	for _, sub := range below {
		base := path.Base(sub.path)
		sub.template = l.template || (l.chart && base == "templates")
		if err := d.searchBelow(ctx, sub); err != nil {
			return err
		}
	}
	return nil
}

// note records a file according to its name.
func (d *discoverer) note(l *directory, e fs.DirEntry) {
	name := path.Join(l.path, e.Name())
	switch {
	case d.isRootFile(e.Name()):
		l.rootFiles = append(l.rootFiles, e.Name())
	case tree.IsManifestName(name):
		l.chart = l.chart || e.Name() == "Chart.yaml"
		l.manifests = append(l.manifests, name)
	}
}

// isRootFile reports whether a file with this name makes its directory a root.
func (d *discoverer) isRootFile(name string) bool {
	return slices.ContainsFunc(d.sources, func(s Source) bool { return s.RootFile(name) })
}

// sourceOf returns the source of a directory with root files.
func (d *discoverer) sourceOf(l *directory) Source {
	i := slices.IndexFunc(d.sources, func(s Source) bool { return s.RootFile(l.rootFiles[0]) })
	return d.sources[i]
}

func (d *discoverer) diagnose(s Severity, pos tree.Position, format string, args ...any) {
	d.out.Diagnostics = append(d.out.Diagnostics, Diagnostic{Severity: s, Position: pos, Message: fmt.Sprintf(format, args...)})
}

// add adds a directory, and starts reading its kustomization files in the background.
func (d *discoverer) add(l *directory) {
	d.dirs = append(d.dirs, l)
	if len(l.rootFiles) == 0 {
		return
	}
	if l.uses = l.sharedUses(); l.uses != nil {
		return
	}
	d.reading.Go(func() error {
		l.uses = d.sourceOf(l).Uses(l.path, l.rootFiles)
		return nil
	})
}

func (d *discoverer) real(name string) string { return d.tree.RealOr(name) }

// partlyUsed adds gaps for unused manifests in a directory of which a kustomization uses another manifest: they are in
// no root, so they are not judged.
func (d *discoverer) partlyUsed(l *directory) {
	for _, name := range l.manifests {
		if !d.use(l.path).files[d.real(name)] && d.isManifestOf(l, name) {
			id, _ := d.tree.Identity(d.real(name)) // it was read
			d.addGap(Gap{Position: tree.Position{Path: name}, Kind: GapUnused, Root: RootID{Dir: l.path}, Identity: id})
		}
	}
}

// mayBePlain reports whether a directory may be a plain root: it has no kustomization file, no kustomization uses all of
// it, and it is neither in a test nor in the templates of a chart.
func (d *discoverer) mayBePlain(l *directory) bool {
	return len(l.rootFiles) == 0 && !l.template && !d.inTest(l.path) && !d.use(l.path).covers(l.path)
}

// usedManifest returns the first manifest of a directory that a kustomization uses.
func (d *discoverer) usedManifest(l *directory) string {
	used := d.use(l.path).files
	for _, name := range l.manifests {
		if used[d.real(name)] {
			return name
		}
	}
	return ""
}

// decodeAhead decodes the files of all plain roots in parallel, so that plainRoot finds them decoded. plainRoot reports
// files that cannot be read.
func (d *discoverer) decodeAhead(ctx context.Context) {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, l := range d.dirs {
		if !d.mayBePlain(l) || d.usedManifest(l) != "" {
			continue
		}
		for _, name := range l.manifests {
			if _, known := d.knownToHold(l, name); known {
				continue
			}
			group.Go(func() error {
				if data, real, err := d.tree.Load(name, tree.NewTrace()); err == nil && tree.MayHoldObject(data) && ctx.Err() == nil {
					d.tree.DecodeManifest(real, data)
				}
				return nil
			})
		}
	}
	_ = group.Wait()
}

// plainRoot adds a directory of manifests that no kustomization uses.
func (d *discoverer) plainRoot(l *directory) {
	if !d.mayBePlain(l) {
		return
	}
	if d.usedManifest(l) != "" {
		d.partlyUsed(l)
		return
	}
	root := d.plain(l)
	if len(root.Files) == 0 {
		return
	}
	d.out.Roots = append(d.out.Roots, root)
	for _, name := range l.manifests {
		if d.pointers[name] {
			id, _ := d.tree.Identity(d.real(name)) // it was read
			d.addGap(Gap{Position: tree.Position{Path: name}, Kind: GapPointer, Root: RootID{Dir: l.path}, Identity: id})
		}
	}
}

// plain returns the root of all manifests of a directory.
func (d *discoverer) plain(l *directory) Root {
	root := Root{RootID: RootID{Kind: KindPlain, Dir: l.path}}
	for _, name := range l.manifests {
		if d.isManifestOf(l, name) {
			root.Files = append(root.Files, name)
		}
	}
	return root
}

// Plain returns a directory of the tree that Discover searched as a plain root of all its manifests, even if
// kustomizations use some of them and Discover found no root there. ok is false if it has no manifests or has a
// kustomization file.
func (r *Renderer) Plain(dir string) (root Root, ok bool) {
	d := r.found.Load()
	l := d.at(dir)
	if l == nil || len(l.rootFiles) > 0 {
		return Root{}, false
	}
	root = d.plain(l)
	return root, len(root.Files) > 0
}

// at returns a searched directory, or nil. It may be called on nil.
func (d *discoverer) at(dir string) *directory {
	if d == nil {
		return nil
	}
	at, ok := d.extents[dir]
	if !ok {
		return nil
	}
	return d.dirs[at.from]
}
