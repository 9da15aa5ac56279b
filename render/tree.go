package render

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
)

// maxLinks is how many symbolic links a path may pass, as in Linux.
const maxLinks = 40

var (
	errOutside = errors.New("leads out of the repository")
	errIsDir   = errors.New("is a directory")
)

func (l Limits) withDefaults() Limits {
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

// tree reads the files of an fs.FS within limits and remembers what never
// changes: where paths lead, what identifies files. Safe for concurrent use.
type tree struct {
	fsys   fs.FS
	links  fs.ReadLinkFS // nil when fsys has no symbolic links
	limits Limits

	resolved sync.Map // path -> *resolution
	// identities name the content of files: path without links -> string
	identities sync.Map
	memo       *memo
	// words tell what files mention: path without links -> *wordIndex
	words sync.Map
}

// beside returns a tree that shares with t what is known of files by their content.
func (t *tree) beside(fsys fs.FS) *tree {
	other := newTree(fsys, t.limits)
	other.memo = t.memo
	return other
}

func newTree(fsys fs.FS, limits Limits) *tree {
	t := &tree{fsys: fsys, limits: limits.withDefaults(), memo: &memo{}}
	t.links, _ = fsys.(fs.ReadLinkFS)
	return t
}

// resolution is where a path leads.
type resolution struct {
	real  string // the path without symbolic links
	isDir bool
	// links are the symbolic links passed, with their targets.
	links []link
	err   error
}

type link struct{ path, target string }

// resolve follows the symbolic links of a cleaned slash path. Its err is
// fs.ErrNotExist for what is not there.
func (t *tree) resolve(name string) *resolution {
	if r, ok := t.resolved.Load(name); ok {
		return r.(*resolution)
	}
	r, _ := t.resolved.LoadOrStore(name, t.lookup(name))
	return r.(*resolution)
}

func (t *tree) lookup(name string) *resolution {
	if name == "." {
		return &resolution{real: ".", isDir: true}
	}
	if !fs.ValidPath(name) {
		return &resolution{err: fmt.Errorf("%s %w", name, errOutside)}
	}
	parent := t.resolve(path.Dir(name))
	if parent.err != nil {
		return &resolution{err: parent.err, links: parent.links}
	}
	if !parent.isDir {
		return &resolution{err: fs.ErrNotExist, links: parent.links}
	}
	at := path.Join(parent.real, path.Base(name))
	info, err := t.lstat(at)
	switch {
	case err != nil:
		return &resolution{err: err, links: parent.links}
	case info.Mode()&fs.ModeSymlink != 0:
		return t.follow(at, parent.links)
	case !info.IsDir() && !info.Mode().IsRegular():
		return &resolution{err: t.irregular(at), links: parent.links}
	}
	return &resolution{real: at, isDir: info.IsDir(), links: parent.links}
}

func (t *tree) lstat(name string) (fs.FileInfo, error) {
	if t.links != nil {
		return t.links.Lstat(name)
	}
	return fs.Stat(t.fsys, name)
}

// follow resolves the symbolic link at a path.
func (t *tree) follow(at string, passed []link) *resolution {
	target, err := t.links.ReadLink(at)
	if err != nil {
		return &resolution{err: err, links: passed}
	}
	passed = append(passed[:len(passed):len(passed)], link{at, target})
	next := path.Join(path.Dir(at), target)
	switch {
	case path.IsAbs(target):
		return &resolution{err: fmt.Errorf("symbolic link %s has an absolute target", at), links: passed}
	case next == ".." || strings.HasPrefix(next, "../"):
		return &resolution{err: fmt.Errorf("symbolic link %s %w", at, errOutside), links: passed}
	case len(passed) > maxLinks:
		return &resolution{err: fmt.Errorf("too many symbolic links at %s", at), links: passed}
	}
	return t.walkFrom(next, passed)
}

// walkFrom resolves name again from the top, counting the links passed so far: a
// memo would hide a loop.
func (t *tree) walkFrom(name string, passed []link) *resolution {
	at := "."
	for rest := name; rest != "." && rest != ""; {
		var first string
		first, rest, _ = strings.Cut(rest, "/")
		here := path.Join(at, first)
		info, err := t.lstat(here)
		if err != nil {
			return &resolution{err: err, links: passed}
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			r := t.follow(here, passed)
			if r.err != nil || rest == "" {
				return r
			}
			return t.walkFrom(path.Join(r.real, rest), r.links)
		}
		if rest == "" {
			if !info.IsDir() && !info.Mode().IsRegular() {
				return &resolution{err: t.irregular(here), links: passed}
			}
			return &resolution{real: here, isDir: info.IsDir(), links: passed}
		}
		at = here
	}
	return &resolution{real: ".", isDir: true, links: passed}
}

// irregular is the reason a submodule, pipe or device cannot be read, in the
// words of the tree.
func (t *tree) irregular(name string) error {
	f, err := t.fsys.Open(name)
	if err == nil {
		f.Close()
		return fmt.Errorf("%s is neither a file nor a directory", name)
	}
	return err
}

// limitError says that a file is larger than Limits.FileBytes.
type limitError struct {
	path        string
	size, limit int64
}

func (e *limitError) Error() string {
	return fmt.Sprintf("%s has %d bytes, more than the limit of %d bytes for a file", e.path, e.size, e.limit)
}

// read reads a file by its path without links.
func (t *tree) read(real string) ([]byte, error) {
	f, err := t.fsys.Open(real)
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
	if info.Size() > t.limits.FileBytes {
		return nil, &limitError{real, info.Size(), t.limits.FileBytes}
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
