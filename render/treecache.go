package render

import (
	"context"
	"io/fs"
	"maps"
	"slices"

	"github.com/preadmit/preadmit/render/tree"
)

// treeCacheFormat is the version of the format, and of the rules that produce the content.
const treeCacheFormat = "preadmit-tree-7"

// maxCachedTree is the limit for the entry of a tree, in bytes.
const maxCachedTree = 64 << 20

// cachedTree is the cached information about a tree: the contents of its directories, and the needs of its roots. Each
// part is a function of the program, its limits and a directory, which is identified by its path and git's name of its
// content. So it is valid for any tree with this directory at this path.
type cachedTree struct {
	found *discoverer
	ids   map[string]string
	needs map[RootID]*needsEntry
}

// treeEntry is the stored form of a cachedTree.
type treeEntry struct {
	Dirs  []dirEntry
	Roots []needsEntry
}

// dirEntry is the stored form of a directory, with what its root files use.
type dirEntry struct {
	Path, ID                string
	Below                   int // number of directories at or below it, which follow in the list
	RootFiles, Manifests    []string
	Beside                  []string
	Chart, Template, Broken bool
	HasUses, Component      bool
	Files, Dirs, Bases      []string
	Resources               []string // the Files that are listed as resources
	Within                  string
	Objects, NoObjects      []string
}

// needsEntry is the stored form of the needs of a root.
type needsEntry struct {
	RootID                           RootID
	Manifests                        []string // of a plain root
	Within                           string
	Reads, IDs                       []string // names and identities of what is read
	Misses                           []string
	Free, Composed, Renamed, Patched bool
	Charts                           bool
	Affixes                          []string
	Generated                        []string
	Words                            tree.WordSet
	Problem                          *Problem
	Artifacts                        []Artifact
}

// treeKey returns the key for trees with the same directories at the top, which usually are of the same repository.
func (r *Renderer) treeKey() cacheKey {
	words := []string{treeCacheFormat, program(), r.opts.text()}
	entries, err := fs.ReadDir(r.tree.Fsys, ".")
	if err != nil {
		return "" // then the tree cannot be searched either
	}
	for _, e := range entries {
		if e.IsDir() {
			words = append(words, e.Name())
		}
	}
	return newCacheKey(words...)
}

// cachedTree returns the cached information about a similar tree; nil if there is none.
func (r *Renderer) cachedTree() *cachedTree {
	var kept treeEntry
	if key := r.treeKey(); key == "" || !r.opts.Cache.read(key, &kept) {
		return nil
	}
	cached := &cachedTree{found: &discoverer{extents: map[string]dirRange{}}, ids: map[string]string{}, needs: map[RootID]*needsEntry{}}
	for i := range kept.Dirs {
		dir := &kept.Dirs[i]
		cached.ids[dir.Path] = dir.ID
		cached.found.extents[dir.Path] = dirRange{i, i + dir.Below}
		cached.found.dirs = append(cached.found.dirs, dir.directory())
	}
	for i := range kept.Roots {
		cached.needs[kept.Roots[i].RootID] = &kept.Roots[i]
	}
	return cached
}

func (d *dirEntry) directory() *directory {
	l := &directory{
		path: d.Path, rootFiles: d.RootFiles, manifests: d.Manifests,
		chart: d.Chart, template: d.Template, broken: d.Broken, beside: d.Beside,
	}
	if d.HasUses {
		l.uses = &Uses{Component: d.Component, Files: d.Files, Dirs: d.Dirs, Bases: d.Bases, Resources: d.Resources, Within: d.Within}
	}
	for _, name := range d.Objects {
		l.hold(name, true)
	}
	for _, name := range d.NoObjects {
		l.hold(name, false)
	}
	return l
}

// CacheTree stores the results of Discover, and of Needs for the given roots, in the cache, if much of it is new. It
// does nothing without a cache, or for a tree without git's names of directories.
func (r *Renderer) CacheTree(roots []Root) {
	found := r.found.Load()
	named, ok := r.tree.Fsys.(treeNames)
	if r.opts.Cache == nil || found == nil || !ok || !found.isNew() {
		return
	}
	kept := treeEntry{Roots: r.rootEntries(roots)}
	for _, l := range found.dirs {
		kept.Dirs = append(kept.Dirs, found.dirEntry(l, treeID(named, l.path)))
	}
	r.opts.Cache.keep(r.treeKey(), &kept, maxCachedTree)
}

// rootEntries returns the entries of roots, computed in parallel.
func (r *Renderer) rootEntries(roots []Root) []needsEntry {
	all, _ := Each(context.Background(), roots, func(_ context.Context, root Root) *needsEntry {
		if in := r.Needs(root); !in.linked && root.Unit == nil && len(in.Artifacts) == 0 { // what a unit needs depends on its object
			return r.newNeedsEntry(root, in)
		}
		return nil
	})
	var out []needsEntry
	for _, in := range all {
		if in != nil {
			out = append(out, *in)
		}
	}
	return out
}

// isNew reports whether more than a twentieth of the directories is not in the cache.
func (d *discoverer) isNew() bool {
	fresh := 0
	for _, l := range d.dirs {
		if l.same == nil {
			fresh++
		}
	}
	const twentieth = 20
	return fresh*twentieth > len(d.dirs)
}

func (d *discoverer) dirEntry(l *directory, id string) dirEntry {
	at := d.extents[l.path]
	out := dirEntry{
		Path: l.path, ID: id, Below: at.to - at.from, RootFiles: l.rootFiles, Manifests: l.manifests,
		Chart: l.chart, Template: l.template, Broken: l.broken, Beside: l.beside,
	}
	if s := l.uses; s != nil && !s.Linked && len(s.Diagnostics) == 0 {
		out.HasUses, out.Component, out.Files, out.Dirs, out.Bases, out.Within = true, s.Component, s.Files, s.Dirs, s.Bases, s.Within
		out.Resources = s.Resources
	}
	for _, name := range slices.Sorted(maps.Keys(l.holds)) {
		if l.holds[name] {
			out.Objects = append(out.Objects, name)
		} else {
			out.NoObjects = append(out.NoObjects, name)
		}
	}
	return out
}

func (r *Renderer) newNeedsEntry(root Root, in *Needs) *needsEntry {
	out := &needsEntry{
		RootID: root.RootID, Manifests: root.Files, Within: in.within, Reads: slices.Sorted(maps.Keys(in.Trace.Reads)),
		Misses: slices.Sorted(maps.Keys(in.Trace.Misses)), Charts: in.Charts, Free: in.Free, Composed: in.Composed, Renamed: in.Renamed, Patched: in.Patched,
		Affixes: in.Affixes, Generated: slices.Sorted(maps.Keys(in.Generated)), Words: in.words,
		Problem: in.Problem, Artifacts: in.Artifacts,
	}
	for _, name := range out.Reads {
		out.IDs = append(out.IDs, in.Trace.Reads[name])
	}
	if out.Words == nil && in.Problem == nil { // otherwise the words are not used
		out.Words = r.tree.WordSet(in.files)
	}
	return out
}

// cachedNeeds returns the needs of a root from the cache, if they depend only on what both trees have in common; else
// nil.
func (r *Renderer) cachedNeeds(root Root) *Needs {
	found := r.found.Load()
	if found == nil || found.shared == nil {
		return nil
	}
	known, ok := found.shared.needs[root.RootID]
	if !ok || !slices.Equal(known.Manifests, root.Files) || !found.isShared(known.Within) {
		return nil
	}
	in := &Needs{
		Trace: tree.NewTrace(), tree: r.tree, within: known.Within, words: known.Words, Problem: known.Problem, Artifacts: known.Artifacts, Charts: known.Charts,
		Composition: Composition{Free: known.Free, Composed: known.Composed, Renamed: known.Renamed, Patched: known.Patched, Affixes: known.Affixes, Generated: map[string]bool{}},
	}
	for i, name := range known.Reads {
		in.Trace.Reads[name] = known.IDs[i]
		if !tree.IsMark(known.IDs[i]) {
			in.files = append(in.files, name)
		}
	}
	for _, name := range known.Misses {
		in.Trace.Misses[name] = true
	}
	for _, kind := range known.Generated {
		in.Generated[kind] = true
	}
	return in
}
