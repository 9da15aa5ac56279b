package gittree

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sync"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/index"
)

// WorkTree returns the work tree with its uncommitted changes: the files that git tracks and those it would add.
// `.git`, ignored files (.gitignore, .git/info/exclude), and the files of submodules and of other repositories inside
// are excluded.
func (r *Repository) WorkTree() (fs.FS, error) {
	if r.location.workTree == "" {
		return nil, errors.New("open work tree: the repository is bare and has none")
	}
	under, err := Dir(r.location.workTree)
	if err != nil {
		return nil, fmt.Errorf("open work tree: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	idx, err := r.store.Index()
	if err != nil {
		return nil, fmt.Errorf("open work tree: read the index: %w", err)
	}
	for _, e := range idx.Entries {
		if e.SkipWorktree {
			return nil, fmt.Errorf("open work tree: this is a sparse checkout: %s and perhaps more is not there, which would look deleted", e.Name)
		}
	}
	cfg := r.excludes()
	return &workTree{under: under.(*dirFS), tracked: newTracked(idx), base: cfg, dirs: map[string]*visibleDir{}}, nil
}

// tracked is the content of the index.
type tracked struct {
	files      map[string]bool
	dirs       map[string]bool   // directories that hold a tracked file
	submodules map[string]string // to their commits
}

func newTracked(idx *index.Index) tracked {
	t := tracked{files: map[string]bool{}, dirs: map[string]bool{}, submodules: map[string]string{}}
	for _, e := range idx.Entries {
		if e.Mode == filemode.Submodule {
			t.submodules[e.Name] = e.Hash.String()
		} else {
			t.files[e.Name] = true
		}
		for dir := path.Dir(e.Name); dir != "." && !t.dirs[dir]; dir = path.Dir(dir) {
			t.dirs[dir] = true
		}
	}
	return t
}

// workTree is a directory as git sees it.
type workTree struct {
	under   *dirFS
	tracked tracked
	base    []rule

	mu   sync.Mutex
	dirs map[string]*visibleDir
}

// visibleDir is a directory's listing without ignored entries. It is immutable.
type visibleDir struct {
	rules   []rule // those of this directory and the ones above it
	ignored bool   // only tracked files below count
	entries map[string]fs.DirEntry
	order   []fs.DirEntry
}

// dir returns the listing of a directory. name must not contain symbolic links.
func (w *workTree) dir(name string) (*visibleDir, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.load(name)
}

func (w *workTree) load(name string) (*visibleDir, error) {
	if d := w.dirs[name]; d != nil {
		return d, nil
	}
	d := &visibleDir{rules: w.base, entries: map[string]fs.DirEntry{}}
	if name != "." {
		parent, err := w.load(path.Dir(name))
		if err != nil {
			return nil, err
		}
		if e, ok := parent.entries[path.Base(name)]; !ok || !e.IsDir() {
			return nil, fs.ErrNotExist
		}
		d.rules = parent.rules
		d.ignored = parent.ignored || excluded(parent.rules, name, true)
	}
	if err := w.list(name, d); err != nil {
		return nil, err
	}
	w.dirs[name] = d
	return d, nil
}

func (w *workTree) list(name string, d *visibleDir) error {
	if _, ok := w.Submodule(name); ok {
		return nil
	}
	entries, err := w.under.ReadDir(name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == ".gitignore" && e.Type().IsRegular() {
			data, err := w.under.ReadFile(path.Join(name, ".gitignore"))
			if err != nil {
				return err
			}
			d.rules = append(d.rules[:len(d.rules):len(d.rules)], parseRules(name, data)...)
		}
	}
	for _, e := range entries {
		if w.visible(path.Join(name, e.Name()), e, d) {
			d.entries[e.Name()] = e
			d.order = append(d.order, e)
		}
	}
	return nil
}

func (w *workTree) visible(name string, e fs.DirEntry, d *visibleDir) bool {
	switch {
	case path.Base(name) == ".git":
		return false
	case w.tracked.files[name] || w.tracked.dirs[name] || w.tracked.submodules[name] != "":
		return true
	case d.ignored || excluded(d.rules, name, e.IsDir()):
		return false
	case e.IsDir():
		_, err := w.under.Lstat(path.Join(name, ".git"))
		return err != nil // a directory with .git is another repository
	}
	return true
}

// Submodule returns the commit of the git submodule at name in the index, in hex, if there is one.
func (w *workTree) Submodule(name string) (commit string, ok bool) {
	commit, ok = w.tracked.submodules[name]
	return commit, ok
}

// resolve checks that git sees name and every symbolic link in its path, and returns the path without links (the last
// element may be one if follow is not set).
func (w *workTree) resolve(name string, follow bool) (string, error) {
	if !fs.ValidPath(name) {
		return "", fs.ErrInvalid
	}
	return resolveLinks(name, follow, linkReader{
		entry: func(dir, base string) (fs.FileMode, error) {
			d, err := w.dir(dir)
			if err != nil {
				return 0, err
			}
			if _, ok := w.Submodule(dir); ok {
				return 0, errSubmodule
			}
			e, ok := d.entries[base]
			if !ok {
				return 0, fs.ErrNotExist
			}
			return e.Type(), nil
		},
		readLink: w.under.ReadLink,
	})
}

// Open implements fs.FS.
func (w *workTree) Open(name string) (fs.File, error) {
	real, err := w.resolve(name, true)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	f, err := w.under.Open(real)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		d, err := w.dir(real)
		if err != nil {
			f.Close()
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		return &workDir{File: f, dirHandle: dirHandle{entries: d.order}}, nil
	}
	return f, nil
}

// ReadFile implements fs.ReadFileFS.
func (w *workTree) ReadFile(name string) ([]byte, error) {
	real, err := w.resolve(name, true)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return w.under.ReadFile(real)
}

// ReadDir implements fs.ReadDirFS.
func (w *workTree) ReadDir(name string) ([]fs.DirEntry, error) {
	real, err := w.resolve(name, true)
	if err == nil {
		var d *visibleDir
		if d, err = w.dir(real); err == nil {
			return append([]fs.DirEntry(nil), d.order...), nil
		}
	}
	return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
}

// Stat implements fs.StatFS.
func (w *workTree) Stat(name string) (fs.FileInfo, error) {
	real, err := w.resolve(name, true)
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return w.under.Stat(real)
}

// Lstat implements fs.ReadLinkFS.
func (w *workTree) Lstat(name string) (fs.FileInfo, error) {
	real, err := w.resolve(name, false)
	if err != nil {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	return w.under.Lstat(real)
}

// ReadLink implements fs.ReadLinkFS.
func (w *workTree) ReadLink(name string) (string, error) {
	real, err := w.resolve(name, false)
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
	}
	return w.under.ReadLink(real)
}

// workDir is an opened directory whose listing excludes what git ignores.
type workDir struct {
	fs.File
	dirHandle dirHandle
}

// ReadDir implements fs.ReadDirFile.
func (d *workDir) ReadDir(n int) ([]fs.DirEntry, error) { return d.dirHandle.ReadDir(n) }
