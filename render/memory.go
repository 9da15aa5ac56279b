package render

import (
	"io/fs"
	"maps"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
)

// memoryFormat is the version of what is remembered, and of the rules it follows from.
const memoryFormat = "preadmit-memory-5"

// mostRemembered bounds what is remembered of a tree, in bytes.
const mostRemembered = 64 << 20

// memory is what is remembered of a tree: what its directories hold, and what its roots
// are made of. Each part is a function of the program, its limits and a directory, which
// is named by its path and the name git gives its content. Whatever a tree has in the
// same place can be taken from it, whichever tree it is of.
type memory struct {
	found  *discoverer
	ids    map[string]string
	inputs map[RootID]*rememberedInputs
}

// rememberedTree is a memory as it is kept.
type rememberedTree struct {
	Dirs  []rememberedDir
	Roots []rememberedInputs
}

// rememberedDir is a directory, with what its kustomizations say.
type rememberedDir struct {
	Path, ID                  string
	Below                     int // directories from this one on that are at or below it
	Kustomizations, Manifests []string
	Beside                    []string
	Chart, Template, Broken   bool
	Says, Component           bool
	Files, Dirs, Bases        []string
	Resources                 []string // those of Files that are listed as resources
	Within                    string
	Objects, NoObjects        []string
}

// rememberedInputs are the inputs of a root.
type rememberedInputs struct {
	RootID        RootID
	Manifests     []string // of a plain root
	Within        string
	Reads, IDs    []string // what is read, and what identifies it
	Misses        []string
	Free, Patched bool
	Affixes       []string
	Generated     []string
	Words         wordSet
	Problem       *Problem
}

// memoryKey names what is remembered of trees that look like this one from above,
// which are of one repository as a rule.
func (r *Renderer) memoryKey() cacheKey {
	words := []string{memoryFormat, program(), r.opts.text()}
	entries, err := fs.ReadDir(r.tree.fsys, ".")
	if err != nil {
		return "" // and nothing else can be found out of the tree
	}
	for _, e := range entries {
		if e.IsDir() {
			words = append(words, e.Name())
		}
	}
	return newCacheKey(words...)
}

// recall gives what is remembered of a tree like this one; nil when nothing is.
func (r *Renderer) recall() *memory {
	var kept rememberedTree
	if key := r.memoryKey(); key == "" || !r.opts.Cache.read(key, &kept) {
		return nil
	}
	m := &memory{found: &discoverer{extents: map[string]dirRange{}}, ids: map[string]string{}, inputs: map[RootID]*rememberedInputs{}}
	for i := range kept.Dirs {
		dir := &kept.Dirs[i]
		m.ids[dir.Path] = dir.ID
		m.found.extents[dir.Path] = dirRange{i, i + dir.Below}
		m.found.dirs = append(m.found.dirs, dir.listing())
	}
	for i := range kept.Roots {
		m.inputs[kept.Roots[i].RootID] = &kept.Roots[i]
	}
	return m
}

func (d *rememberedDir) listing() *listing {
	l := &listing{
		path: d.Path, kustomizations: d.Kustomizations, manifests: d.Manifests,
		chart: d.Chart, template: d.Template, broken: d.Broken, beside: d.Beside,
	}
	if d.Says {
		l.says = &Uses{Component: d.Component, Files: d.Files, Dirs: d.Dirs, Bases: d.Bases, Resources: d.Resources, Within: d.Within}
	}
	for _, name := range d.Objects {
		l.hold(name, true)
	}
	for _, name := range d.NoObjects {
		l.hold(name, false)
	}
	return l
}

// Remember keeps in the cache what Discover and Inputs found out about the tree and
// these roots of it, if that is much more than is remembered. Without a cache, or for a
// tree whose directories have no names, it does nothing.
func (r *Renderer) Remember(roots []Root) {
	found := r.found.Load()
	named, ok := r.tree.fsys.(directories)
	if r.opts.Cache == nil || found == nil || !ok || !found.isNews() {
		return
	}
	kept := rememberedTree{Roots: r.rememberRoots(roots)}
	for _, l := range found.dirs {
		kept.Dirs = append(kept.Dirs, found.remember(l, treeID(named, l.path)))
	}
	r.opts.Cache.keep(r.memoryKey(), &kept, mostRemembered)
}

// rememberRoots gives what can be remembered of roots, worked out on all cores.
func (r *Renderer) rememberRoots(roots []Root) []rememberedInputs {
	all := make([]*rememberedInputs, len(roots))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, root := range roots {
		group.Go(func() error {
			if in := r.Inputs(root); !in.linked {
				all[i] = r.rememberInputs(root, in)
			}
			return nil
		})
	}
	_ = group.Wait() // nothing fails
	var out []rememberedInputs
	for _, in := range all {
		if in != nil {
			out = append(out, *in)
		}
	}
	return out
}

// isNews tells whether enough of what was found was not remembered.
func (d *discoverer) isNews() bool {
	fresh := 0
	for _, l := range d.dirs {
		if l.twin == nil {
			fresh++
		}
	}
	const twentieth = 20
	return fresh*twentieth > len(d.dirs)
}

func (d *discoverer) remember(l *listing, id string) rememberedDir {
	at := d.extents[l.path]
	out := rememberedDir{
		Path: l.path, ID: id, Below: at.to - at.from, Kustomizations: l.kustomizations, Manifests: l.manifests,
		Chart: l.chart, Template: l.template, Broken: l.broken, Beside: l.beside,
	}
	if s := l.says; s != nil && !s.Linked && len(s.Diagnostics) == 0 {
		out.Says, out.Component, out.Files, out.Dirs, out.Bases, out.Within = true, s.Component, s.Files, s.Dirs, s.Bases, s.Within
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

func (r *Renderer) rememberInputs(root Root, in *Inputs) *rememberedInputs {
	out := &rememberedInputs{
		RootID: root.RootID, Manifests: root.Files, Within: in.within, Reads: slices.Sorted(maps.Keys(in.Trace.Reads)),
		Misses: slices.Sorted(maps.Keys(in.Trace.Misses)), Free: in.Free, Patched: in.Patched,
		Affixes: in.Affixes, Generated: slices.Sorted(maps.Keys(in.Generated)), Words: in.words,
		Problem: in.Problem,
	}
	for _, name := range out.Reads {
		out.IDs = append(out.IDs, in.Trace.Reads[name])
	}
	if out.Words == nil && in.Problem == nil { // else nobody asks
		out.Words = r.tree.wordSet(in.files)
	}
	return out
}

// rememberedInputs gives the inputs of a root as they are remembered, if they follow
// from what the tree has in common with the one they were of; else nil.
func (r *Renderer) rememberedInputs(root Root) *Inputs {
	found := r.found.Load()
	if found == nil || found.twins == nil {
		return nil
	}
	known, ok := found.twins.inputs[root.RootID]
	if !ok || !slices.Equal(known.Manifests, root.Files) || !found.hasTwin(known.Within) {
		return nil
	}
	in := &Inputs{
		Trace: newTrace(), of: r.tree, within: known.Within, words: known.Words, Problem: known.Problem,
		Composition: Composition{Free: known.Free, Patched: known.Patched, Affixes: known.Affixes, Generated: map[string]bool{}},
	}
	for i, name := range known.Reads {
		in.Trace.Reads[name] = known.IDs[i]
		if !isMark(known.IDs[i]) {
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
