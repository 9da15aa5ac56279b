package gittree

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// maxLinks is the maximum number of symbolic links in the resolution of a path, as in Linux.
const maxLinks = 40

var (
	errSubmodule = errors.New("is a git submodule, whose files are not part of this repository")
	errOutside   = errors.New("symbolic link leads out of the tree")
	errAbsolute  = errors.New("symbolic link has an absolute target")
	errLoop      = errors.New("too many symbolic links")
	errNotDir    = errors.New("not a directory")
	errIsDir     = errors.New("is a directory")
)

// treeFS is a git tree as a file system.
type treeFS struct {
	repo *Repository
	root plumbing.Hash
	// dirs caches directories by path.
	dirs sync.Map // string -> *directory
	// modules returns the URLs of submodules by path.
	modules func() map[string]string
}

var _ interface {
	fs.ReadDirFS
	fs.ReadFileFS
	fs.StatFS
	fs.ReadLinkFS
} = (*treeFS)(nil)

// lookup returns an entry. It follows symbolic links in the path, and in its last element if follow is set.
func (t *treeFS) lookup(name string, follow bool) (object.TreeEntry, error) {
	if !fs.ValidPath(name) {
		return object.TreeEntry{}, fs.ErrInvalid
	}
	if d := t.above(name); d != nil {
		switch entry, ok := d.entries[path.Base(name)]; {
		case !ok:
			return object.TreeEntry{}, fs.ErrNotExist
		case entry.Mode != filemode.Symlink || !follow:
			return entry, nil
		}
	}
	return t.descend(name, follow)
}

// above returns the directory that contains a path; nil if there is none.
func (t *treeFS) above(name string) *directory {
	if name == "." {
		return nil
	}
	dir := path.Dir(name)
	if d, ok := t.dirs.Load(dir); ok {
		return d.(*directory)
	}
	entry, err := t.descend(dir, true)
	if err != nil || entry.Mode != filemode.Dir {
		return nil
	}
	d, err := t.repo.directory(entry.Hash)
	if err != nil {
		return nil
	}
	t.dirs.Store(dir, d)
	return d
}

// descend is like lookup, starting at the top of the tree.
func (t *treeFS) descend(name string, follow bool) (object.TreeEntry, error) {
	rest, done := name, "."
	at := object.TreeEntry{Name: ".", Mode: filemode.Dir, Hash: t.root}
	for links := 0; rest != "." && rest != ""; {
		var first string
		first, rest, _ = strings.Cut(rest, "/")
		next, err := t.child(at, first)
		if err != nil {
			return object.TreeEntry{}, err
		}
		if next.Mode != filemode.Symlink || (rest == "" && !follow) {
			at, done = next, path.Join(done, first)
			continue
		}
		if links++; links > maxLinks {
			return object.TreeEntry{}, errLoop
		}
		if rest, err = t.target(next, done, rest); err != nil {
			return object.TreeEntry{}, err
		}
		at, done = object.TreeEntry{Name: ".", Mode: filemode.Dir, Hash: t.root}, "."
	}
	return at, nil
}

// target returns the path, from the top of the tree, of rest below the target of a link in dir.
func (t *treeFS) target(link object.TreeEntry, dir, rest string) (string, error) {
	data, err := t.repo.blob(link.Hash)
	if err != nil {
		return "", err
	}
	return linkTarget(dir, string(data), rest)
}

func (t *treeFS) child(at object.TreeEntry, name string) (object.TreeEntry, error) {
	switch at.Mode {
	case filemode.Dir:
	case filemode.Submodule:
		return object.TreeEntry{}, fmt.Errorf("%s %w", at.Name, errSubmodule)
	default:
		return object.TreeEntry{}, errors.Join(errNotDir, fs.ErrNotExist)
	}
	d, err := t.repo.directory(at.Hash)
	if err != nil {
		return object.TreeEntry{}, err
	}
	entry, ok := d.entries[name]
	if !ok {
		return object.TreeEntry{}, fs.ErrNotExist
	}
	return entry, nil
}

// Open implements fs.FS.
func (t *treeFS) Open(name string) (fs.File, error) {
	entry, err := t.lookup(name, true)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	info := t.info(entry, path.Base(name))
	if entry.Mode == filemode.Dir {
		entries, err := t.ReadDir(name)
		return &dirHandle{info: info, entries: entries}, err
	}
	data, err := t.content(entry)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &fileHandle{info: info, Reader: bytes.NewReader(data)}, nil
}

// ReadFile implements fs.ReadFileFS.
func (t *treeFS) ReadFile(name string) ([]byte, error) {
	entry, err := t.lookup(name, true)
	if err == nil {
		var data []byte
		if data, err = t.content(entry); err == nil {
			return bytes.Clone(data), nil
		}
	}
	return nil, &fs.PathError{Op: "read", Path: name, Err: err}
}

func (t *treeFS) content(entry object.TreeEntry) ([]byte, error) {
	switch entry.Mode {
	case filemode.Dir:
		return nil, errIsDir
	case filemode.Submodule:
		return nil, errSubmodule
	}
	return t.repo.blob(entry.Hash)
}

// ReadDir implements fs.ReadDirFS.
func (t *treeFS) ReadDir(name string) ([]fs.DirEntry, error) {
	entry, err := t.lookup(name, true)
	if err == nil && entry.Mode != filemode.Dir {
		err = errNotDir
		if entry.Mode == filemode.Submodule {
			err = errSubmodule
		}
	}
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	d, err := t.repo.directory(entry.Hash)
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	out := make([]fs.DirEntry, 0, len(d.entries))
	for name, e := range d.entries {
		out = append(out, fs.FileInfoToDirEntry(t.info(e, name)))
	}
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return out, nil
}

// Lstat implements fs.ReadLinkFS. The size is looked up when it is requested.
func (t *treeFS) Lstat(name string) (fs.FileInfo, error) {
	entry, err := t.lookup(name, false)
	if err != nil {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	return t.info(entry, path.Base(name)), nil
}

// Stat implements fs.StatFS.
func (t *treeFS) Stat(name string) (fs.FileInfo, error) {
	entry, err := t.lookup(name, true)
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	info := t.info(entry, path.Base(name))
	if info.Mode().IsRegular() {
		if info.size, err = t.repo.size(entry.Hash); err != nil {
			return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
		}
		info.sized = true
	}
	return info, nil
}

// ReadLink implements fs.ReadLinkFS.
func (t *treeFS) ReadLink(name string) (string, error) {
	entry, err := t.lookup(name, false)
	if err == nil && entry.Mode != filemode.Symlink {
		err = fs.ErrInvalid
	}
	if err == nil {
		var data []byte
		if data, err = t.repo.blob(entry.Hash); err == nil {
			return string(data), nil
		}
	}
	return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
}

// ObjectID returns the name of the blob of the file or symbolic link at name, in hex. It does not read the blob.
func (t *treeFS) ObjectID(name string) (string, error) {
	entry, err := t.lookup(name, false)
	if err == nil && (entry.Mode == filemode.Dir || entry.Mode == filemode.Submodule) {
		err = errIsDir
	}
	if err != nil {
		return "", &fs.PathError{Op: "identify", Path: name, Err: err}
	}
	return entry.Hash.String(), nil
}

// Submodule returns the commit of the git submodule at name, in hex, if there is one.
func (t *treeFS) Submodule(name string) (commit string, ok bool) {
	entry, err := t.lookup(name, false)
	if err != nil || entry.Mode != filemode.Submodule {
		return "", false
	}
	return entry.Hash.String(), true
}

// TreeID returns the name of the tree object of the directory at name, in hex: directories with the same name are
// equal. It fails if a symbolic link is in the path.
func (t *treeFS) TreeID(name string) (string, error) {
	entry, err := t.real(name)
	if err == nil && entry.Mode != filemode.Dir {
		err = errNotDir
	}
	if err != nil {
		return "", &fs.PathError{Op: "identify", Path: name, Err: err}
	}
	return entry.Hash.String(), nil
}

// real returns an entry without following symbolic links.
func (t *treeFS) real(name string) (object.TreeEntry, error) {
	at := object.TreeEntry{Name: ".", Mode: filemode.Dir, Hash: t.root}
	if name == "." {
		return at, nil
	}
	for part := range strings.SplitSeq(name, "/") {
		var err error
		if at, err = t.child(at, part); err != nil {
			return object.TreeEntry{}, err
		}
	}
	return at, nil
}

func (t *treeFS) info(entry object.TreeEntry, name string) *fileInfo {
	return &fileInfo{repo: t.repo, entry: entry, name: name}
}

// fileInfo describes an entry of a git tree, which has no times.
type fileInfo struct {
	repo  *Repository
	entry object.TreeEntry
	name  string
	size  int64
	sized bool
}

func (i *fileInfo) Name() string       { return i.name }
func (i *fileInfo) Mode() fs.FileMode  { return modeOf(i.entry.Mode) }
func (i *fileInfo) ModTime() time.Time { return time.Time{} }
func (i *fileInfo) IsDir() bool        { return i.Mode().IsDir() }
func (i *fileInfo) Sys() any           { return nil }

// Size returns the length in bytes of a regular file; 0 if its object is missing.
func (i *fileInfo) Size() int64 {
	if i.sized || !i.Mode().IsRegular() {
		return i.size
	}
	n, err := i.repo.size(i.entry.Hash)
	if err != nil {
		return 0
	}
	return n
}

// fileHandle is an opened file.
type fileHandle struct {
	*bytes.Reader
	info *fileInfo
}

func (f *fileHandle) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *fileHandle) Close() error               { return nil }

// dirHandle is an opened directory.
type dirHandle struct {
	info    *fileInfo
	entries []fs.DirEntry
}

func (d *dirHandle) Stat() (fs.FileInfo, error) { return d.info, nil }
func (d *dirHandle) Close() error               { return nil }

func (d *dirHandle) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.info.name, Err: errIsDir}
}

// ReadDir implements fs.ReadDirFile.
func (d *dirHandle) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(d.entries) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(d.entries) {
		n = len(d.entries)
	}
	out := d.entries[:n]
	d.entries = d.entries[n:]
	return out, nil
}
