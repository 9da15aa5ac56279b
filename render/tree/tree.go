package tree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"unicode/utf8"
)

// RealOr returns where a path leads, or the path itself if it does not exist.
func (t *Tree) RealOr(name string) string {
	if to := t.Resolve(name); to.Err == nil {
		return to.Real
	}
	return name
}

// CommonDir returns the lowest directory at or above dir that contains name, or name itself if it is at or above dir;
// the top for paths that leave the tree.
func CommonDir(dir, name string) string {
	for dir != "." && dir != name && !strings.HasPrefix(name, dir+"/") {
		dir = path.Dir(dir)
	}
	return dir
}

// MaxLinks is the maximum number of symbolic links in the resolution of a path, as in Linux.
const MaxLinks = 40

var (
	errOutside = errors.New("leads out of the repository")
	errIsDir   = errors.New("is a directory")
)

func (l Limits) WithDefaults() Limits {
	if l.FileBytes == 0 {
		l.FileBytes = 16 << 20
	}
	if l.Nodes == 0 {
		l.Nodes = 1_000_000
	}
	if l.Keys == 0 {
		l.Keys = 10_000
	}
	if l.Documents == 0 {
		l.Documents = 5_000
	}
	if l.Patches == 0 {
		l.Patches = 50_000
	}
	if l.Visits == 0 {
		l.Visits = 10_000
	}
	return l
}

// Tree reads the files of an fs.FS within limits, and caches immutable results: resolved paths and identities of files.
// It is safe for concurrent use.
type Tree struct {
	Fsys   fs.FS
	Links  fs.ReadLinkFS // nil when fsys has no symbolic links
	Limits Limits

	resolved sync.Map // path -> *resolution
	// identities are the identities of files: path without links -> string
	identities sync.Map
	cache      *fileCache
	small      smallFiles
	// words are the word indexes of files: path without links -> *wordIndex
	words sync.Map
	// made has results of sources, see Made.
	made sync.Map
}

// Made returns a map for results of sources about the tree, with keys of their own types.
func (t *Tree) Made() *sync.Map { return &t.made }

// Beside returns a tree that shares with t the results about files with the same content.
func (t *Tree) Beside(fsys fs.FS) *Tree {
	other := New(fsys, t.Limits)
	other.cache = t.cache
	return other
}

func New(fsys fs.FS, limits Limits) *Tree {
	t := &Tree{Fsys: fsys, Limits: limits.WithDefaults(), cache: &fileCache{}}
	t.Links, _ = fsys.(fs.ReadLinkFS)
	return t
}

// Resolution is the result of resolving a path.
type Resolution struct {
	Real  string // the path without symbolic links
	IsDir bool
	// Links are the symbolic links passed, with their targets.
	Links []link
	Err   error
}

type link struct{ path, target string }

// Resolve follows the symbolic links of a cleaned slash path. Its Err is fs.ErrNotExist if the path does not exist.
func (t *Tree) Resolve(name string) *Resolution {
	if r, ok := t.resolved.Load(name); ok {
		return r.(*Resolution)
	}
	r, _ := t.resolved.LoadOrStore(name, t.lookup(name))
	return r.(*Resolution)
}

// Stat returns the path without symbolic links that a path leads to.
func (t *Tree) Stat(name string) (real string, err error) {
	r := t.Resolve(name)
	return r.Real, r.Err
}

func (t *Tree) lookup(name string) *Resolution {
	if name == "." {
		return &Resolution{Real: ".", IsDir: true}
	}
	if !utf8.ValidString(name) { // io/fs has no such paths
		return &Resolution{Err: fmt.Errorf("the name %q is not valid UTF-8", name)}
	}
	if !fs.ValidPath(name) {
		return &Resolution{Err: fmt.Errorf("%s %w", name, errOutside)}
	}
	parent := t.Resolve(path.Dir(name))
	if parent.Err != nil {
		return &Resolution{Err: parent.Err, Links: parent.Links}
	}
	if !parent.IsDir {
		return &Resolution{Err: fs.ErrNotExist, Links: parent.Links}
	}
	at := path.Join(parent.Real, path.Base(name))
	info, err := t.Lstat(at)
	switch {
	case err != nil:
		return &Resolution{Err: err, Links: parent.Links}
	case info.Mode()&fs.ModeSymlink != 0:
		return t.follow(at, parent.Links)
	case !info.IsDir() && !info.Mode().IsRegular():
		return &Resolution{Err: t.irregular(at), Links: parent.Links}
	}
	return &Resolution{Real: at, IsDir: info.IsDir(), Links: parent.Links}
}

func (t *Tree) Lstat(name string) (fs.FileInfo, error) {
	if t.Links != nil {
		return t.Links.Lstat(name)
	}
	return fs.Stat(t.Fsys, name)
}

// follow resolves the symbolic link at a path.
func (t *Tree) follow(at string, passed []link) *Resolution {
	target, err := t.Links.ReadLink(at)
	if err != nil {
		return &Resolution{Err: err, Links: passed}
	}
	passed = append(passed[:len(passed):len(passed)], link{at, target})
	next := path.Join(path.Dir(at), target)
	switch {
	case path.IsAbs(target):
		return &Resolution{Err: fmt.Errorf("symbolic link %s has an absolute target", at), Links: passed}
	case next == ".." || strings.HasPrefix(next, "../"):
		return &Resolution{Err: fmt.Errorf("symbolic link %s %w", at, errOutside), Links: passed}
	case len(passed) > MaxLinks:
		return &Resolution{Err: fmt.Errorf("too many symbolic links at %s", at), Links: passed}
	}
	return t.walkFrom(next, passed)
}

// walkFrom resolves name from the top, and counts the links passed so far: with the cache, a loop would not be
// detected.
func (t *Tree) walkFrom(name string, passed []link) *Resolution {
	at := "."
	for rest := name; rest != "." && rest != ""; {
		var first string
		first, rest, _ = strings.Cut(rest, "/")
		here := path.Join(at, first)
		info, err := t.Lstat(here)
		if err != nil {
			return &Resolution{Err: err, Links: passed}
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			r := t.follow(here, passed)
			if r.Err != nil || rest == "" {
				return r
			}
			return t.walkFrom(path.Join(r.Real, rest), r.Links)
		}
		if rest == "" {
			if !info.IsDir() && !info.Mode().IsRegular() {
				return &Resolution{Err: t.irregular(here), Links: passed}
			}
			return &Resolution{Real: here, IsDir: info.IsDir(), Links: passed}
		}
		at = here
	}
	return &Resolution{Real: ".", IsDir: true, Links: passed}
}

// irregular returns the error of reading a submodule, pipe or device, if possible the tree's own.
func (t *Tree) irregular(name string) error {
	f, err := t.Fsys.Open(name)
	if err == nil {
		f.Close()
		return fmt.Errorf("%s is neither a file nor a directory", name)
	}
	return err
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s has %d bytes, more than the limit of %d bytes for a file", e.Path, e.size, e.limit)
}

// Read reads the file at a path without links. The content must not be modified.
func (t *Tree) Read(real string) ([]byte, error) {
	if data, ok := t.small.of(real); ok {
		return data, nil
	}
	data, err := t.read(real)
	if err != nil {
		return nil, err
	}
	return t.small.keep(real, data), nil
}

func (t *Tree) read(real string) ([]byte, error) {
	f, err := t.Fsys.Open(real)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: real, Err: errIsDir}
	}
	if info.Size() > t.Limits.FileBytes {
		return nil, &LimitError{real, info.Size(), t.Limits.FileBytes}
	}
	data := make([]byte, 0, info.Size()+1)
	return readAll(f, data)
}

func readAll(r io.Reader, data []byte) ([]byte, error) {
	for {
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}
