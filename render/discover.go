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

// Selection is what somebody asks for of a tree.
type Selection struct {
	// Dirs reports whether a directory is selected: what only kustomizations elsewhere use
	// is a root too, if it is selected itself. Nil selects all.
	Dirs func(dir string) bool
	// TestData reports whether a directory in test data counts all the same, since somebody
	// asked for it by its name; nil when none does.
	TestData func(dir string) bool
}

// DiscoverSelected is Discover for what is selected only.
func (r *Renderer) DiscoverSelected(ctx context.Context, asked Selection) (*Discovery, error) {
	d := &discoverer{sources: r.sources, seen: map[string]bool{}, tree: r.tree, selected: asked.Dirs, testData: asked.TestData, extents: map[string]dirRange{}, problems: map[string]*Problem{}, pointers: map[string]bool{}, reported: map[string]bool{}, shared: r.shared()}
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

// discoverer gathers what a tree holds.
type discoverer struct {
	tree    *tree.Tree
	sources []Source
	dirs    []*directory
	// extents hold where in dirs a directory is with those below it.
	extents map[string]dirRange
	// selected reports whether a directory counts; nil when all do.
	selected func(dir string) bool
	// used is what is used in the whole tree, usedInside what selected roots use.
	used, usedInside *usage
	out              Discovery
	// seen holds whether files are manifests.
	seen map[string]bool
	// problems keep manifests from being rendered, by file.
	problems map[string]*Problem
	// pointers are those of Git LFS that rather stand for data.
	pointers map[string]bool
	// tests are directories that are tests with all below them.
	tests map[string]bool
	// testData is that of Selection.
	testData func(dir string) bool
	// reported are the paths of gaps.
	reported map[string]bool
	// reading are the kustomizations that are being read.
	reading errgroup.Group
	// shared are the directories in common with another tree; nil when there are none.
	shared *shared
}

// dirRange is a part of a list of directories: from one index to before another.
type dirRange struct{ from, to int }

// directory is what matters of one directory.
type directory struct {
	path      string
	rootFiles []string // names of kustomization files
	manifests []string // paths of files that may be manifests
	chart     bool     // has a Chart.yaml
	template  bool     // is, or is below, the templates directory of a chart
	broken    bool     // cannot be listed
	beside    []string // paths of what is left out: see leaveOut

	// uses is what its root files use; nil when it has none.
	uses *Uses
	// holds has whether manifests hold objects, of those about which there is nothing else
	// to report.
	holds map[string]bool
	// same is the directory of this path in the other tree when both hold the same;
	// top is the highest such directory at or above this one.
	same *directory
	top  string
}

// search lists a directory and those below it, in lexical order.
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
		d.diagnose(SeverityError, tree.Position{Path: l.path}, "cannot be listed: %v", err)
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

// note sorts a file by its name.
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

// isRootFile reports whether a file of a name makes its directory a root.
func (d *discoverer) isRootFile(name string) bool {
	return slices.ContainsFunc(d.sources, func(s Source) bool { return s.RootFile(name) })
}

// sourceOf is the source of the root files of a directory that has some.
func (d *discoverer) sourceOf(l *directory) Source {
	i := slices.IndexFunc(d.sources, func(s Source) bool { return s.RootFile(l.rootFiles[0]) })
	return d.sources[i]
}

func (d *discoverer) diagnose(s Severity, pos tree.Position, format string, args ...any) {
	d.out.Diagnostics = append(d.out.Diagnostics, Diagnostic{Severity: s, Position: pos, Message: fmt.Sprintf(format, args...)})
}

// add adds a directory to those that were found, and finds out what its kustomization
// files say while the search goes on.
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

// partlyUsed adds gaps for manifests that nothing uses beside one that a kustomization
// uses: they are no root, so they are not judged.
func (d *discoverer) partlyUsed(l *directory) {
	for _, name := range l.manifests {
		if !d.use(l.path).files[d.real(name)] && d.isManifestOf(l, name) {
			id, _ := d.tree.Identity(d.real(name)) // it was read
			d.addGap(Gap{Position: tree.Position{Path: name}, Kind: GapUnused, Root: RootID{Dir: l.path}, Identity: id})
		}
	}
}

// mayBePlain reports whether a directory has nothing to do with kustomize.
func (d *discoverer) mayBePlain(l *directory) bool {
	return len(l.rootFiles) == 0 && !l.template && !d.inTest(l.path) && !d.use(l.path).covers(l.path)
}

// usedManifest is the first manifest of a directory that a kustomization uses.
func (d *discoverer) usedManifest(l *directory) string {
	used := d.use(l.path).files
	for _, name := range l.manifests {
		if used[d.real(name)] {
			return name
		}
	}
	return ""
}

// decodeAhead decodes the files of all plain roots on all cores, so that reading
// one after the other costs nothing. What cannot be read is reported then.
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

// plainRoot adds a directory of manifests that has nothing to do with kustomize.
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

// plain is the root of all manifests of a directory.
func (d *discoverer) plain(l *directory) Root {
	root := Root{RootID: RootID{Kind: KindPlain, Dir: l.path}}
	for _, name := range l.manifests {
		if d.isManifestOf(l, name) {
			root.Files = append(root.Files, name)
		}
	}
	return root
}

// Plain returns a directory of the tree that Discover searched as a plain root, of all
// manifests in it, also if kustomizations use some and Discover found no root there. ok is
// false when there are none, or the directory has a kustomization file.
func (r *Renderer) Plain(dir string) (root Root, ok bool) {
	d := r.found.Load()
	l := d.at(dir)
	if l == nil || len(l.rootFiles) > 0 {
		return Root{}, false
	}
	root = d.plain(l)
	return root, len(root.Files) > 0
}

// at is a directory that was searched, nil when there is none. It may be called on nil.
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
