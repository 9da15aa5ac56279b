package flux

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/fluxcd/pkg/sourceignore"

	"github.com/preadmit/preadmit/internal/memfs"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/artifact"
	overlaid "github.com/preadmit/preadmit/render/artifact/overlay"
	"github.com/preadmit/preadmit/render/tree"
)

// view is the part of a tree that a source of Flux contains. source-controller excludes symbolic links, and paths that
// match the patterns of .sourceignore files and spec.ignore, or default patterns if there are none.
type view struct {
	base     *tree.Tree
	checkout render.Checkout
	matcher  *matcher
	// defaults are the patterns that apply if there are no others.
	defaults *matcher
	// held and left cache the results of holds and isDefault: paths to booleans.
	held, left sync.Map
}

var (
	_ fs.ReadLinkFS = (*view)(nil)
	_ fs.ReadDirFS  = (*view)(nil)
)

// newView returns a view. found are the patterns of the .sourceignore files of the tree.
func newView(t *tree.Tree, checkout render.Checkout, found []pattern) *view {
	v := &view{base: t, checkout: checkout}
	top := cmp.Or(checkout.Source, checkout.Top, ".")
	// Files above the top of the source are not part of it.
	patterns := slices.DeleteFunc(slices.Clone(found), func(p pattern) bool { return !within(top, path.Join(".", path.Join(p.domain...))) })
	if checkout.HasIgnore {
		patterns = append(patterns, parsePatterns(checkout.Ignore, domain(top))...)
	}
	defaults := patternsOf(sourceignore.ExcludeExt, sourceignore.ExcludeCI, sourceignore.ExcludeExtra)
	v.defaults = newMatcher(defaults)
	if len(patterns) == 0 {
		patterns = defaults
	}
	v.matcher = newMatcher(append(patternsOf(sourceignore.ExcludeVCS), patterns...))
	return v
}

// holds reports whether a path without symbolic links is in the source.
func (v *view) holds(name string, isDir bool) bool {
	if known, ok := v.held.Load(name); ok {
		return known.(bool)
	}
	holds := v.matches(name, isDir)
	v.held.Store(name, holds)
	return holds
}

func (v *view) matches(name string, isDir bool) bool {
	if !v.inside(name, isDir) {
		return false
	}
	if name == "." || !v.matcher.matches(name, isDir) {
		return true
	}
	return isDir && v.holdsBelow(name)
}

// inside reports whether a path is in the checked out part of the tree.
func (v *view) inside(name string, isDir bool) bool {
	if !within(v.checkout.Top, name) {
		return isDir && within(name, v.checkout.Top)
	}
	if len(v.checkout.Only) == 0 {
		return true
	}
	return slices.ContainsFunc(v.checkout.Only, func(dir string) bool {
		return within(dir, name) || isDir && within(name, dir)
	})
}

// holdsBelow reports whether an excluded directory contains a file that is not excluded.
func (v *view) holdsBelow(dir string) bool {
	found := errors.New("found")
	err := fs.WalkDir(v.base.Fsys, dir, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && v.inside(name, false) && !v.matcher.matches(name, false) {
			return found
		}
		return nil
	})
	return errors.Is(err, found)
}

func within(dir, name string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}

// isDefault reports whether the default patterns exclude a path.
func (v *view) isDefault(name string) bool {
	if known, ok := v.left.Load(name); ok {
		return known.(bool)
	}
	left := v.defaults.matches(name, false)
	v.left.Store(name, left)
	return left
}

// Lstat implements fs.ReadLinkFS.
func (v *view) Lstat(name string) (fs.FileInfo, error) {
	info, err := v.base.Lstat(name)
	if err != nil || overlaid.Under(name) {
		return info, err
	}
	if info.Mode()&fs.ModeSymlink != 0 || !v.holds(name, info.IsDir()) {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: fs.ErrNotExist}
	}
	return info, nil
}

// ReadLink implements fs.ReadLinkFS. There are symbolic links only in artifacts.
func (v *view) ReadLink(name string) (string, error) {
	if overlaid.Under(name) && v.base.Links != nil {
		return v.base.Links.ReadLink(name)
	}
	return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
}

// Open implements fs.FS.
func (v *view) Open(name string) (fs.File, error) {
	if _, err := v.Lstat(name); err != nil {
		return nil, err
	}
	return v.base.Fsys.Open(name)
}

// ReadDir implements fs.ReadDirFS.
func (v *view) ReadDir(name string) ([]fs.DirEntry, error) {
	if _, err := v.Lstat(name); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(v.base.Fsys, name)
	return slices.DeleteFunc(slices.Clone(entries), func(e fs.DirEntry) bool {
		_, err := v.Lstat(path.Join(name, e.Name()))
		return err != nil
	}), err
}

// ObjectID returns git's name of the content of a file.
func (v *view) ObjectID(name string) (string, error) { return v.base.Identity(name) }

// overlay is a view with other contents of some files, which need not exist in the view.
type overlay struct {
	*view
	files map[string][]byte
}

// Lstat implements fs.ReadLinkFS.
func (o *overlay) Lstat(name string) (fs.FileInfo, error) {
	if data, ok := o.files[name]; ok {
		return memfs.NewInfo(name, 0o444, int64(len(data))), nil
	}
	return o.view.Lstat(name)
}

// Open implements fs.FS.
func (o *overlay) Open(name string) (fs.File, error) {
	if data, ok := o.files[name]; ok {
		return memfs.NewFile(name, data), nil
	}
	return o.view.Open(name)
}

// ObjectID returns git's name of the content of a file.
func (o *overlay) ObjectID(name string) (string, error) {
	if data, ok := o.files[name]; ok {
		return tree.ObjectID(data), nil
	}
	return o.view.ObjectID(name)
}

// Mount returns the directory of an artifact. kustomize-controller downloads remote bases itself, so no source excludes
// any of their files.
func (o *overlay) Mount(a artifact.Artifact) (string, error) {
	name, ok, err := o.base.Mount(a)
	if !ok {
		return "", tree.ErrNoArtifacts
	}
	return name, err
}

// views caches the views of a tree.
type views struct {
	tree     *tree.Tree
	patterns func() ([]pattern, error)
	mu       sync.Mutex
	all      []*viewed
}

// viewed is a view as a tree.
type viewed struct {
	*view
	tree *tree.Tree
}

func newViews(t *tree.Tree) *views {
	return &views{tree: t, patterns: sync.OnceValues(func() ([]pattern, error) { return ignoreFiles(t) })}
}

// of returns the view of a checkout.
func (vs *views) of(c render.Checkout) (*viewed, error) {
	found, err := vs.patterns()
	if err != nil {
		return nil, err
	}
	vs.mu.Lock()
	defer vs.mu.Unlock()
	for _, v := range vs.all {
		if v.checkout.Same(c) {
			return v, nil
		}
	}
	v := newView(vs.tree, c, found)
	kept := &viewed{v, vs.tree.Beside(v)}
	vs.all = append(vs.all, kept)
	return kept, nil
}
