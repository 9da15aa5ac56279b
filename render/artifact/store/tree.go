package store

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/preadmit/preadmit/internal/memfs"
	"github.com/preadmit/preadmit/render/artifact"
)

// archiveFS is an archive as a file system. It is immutable after finish.
type archiveFS struct {
	file *os.File // nil when the files are in memory
	// nodes are all entries, by path.
	nodes map[string]*node
	// modules are the submodules, which are empty directories.
	modules []artifact.Submodule
}

var _ interface {
	fs.ReadDirFS
	fs.ReadFileFS
	fs.StatFS
	fs.ReadLinkFS
} = (*archiveFS)(nil)

// node is an entry of an archive.
type node struct {
	mode     fs.FileMode
	target   string // of a link
	size     int64
	data     []byte   // of a file in memory
	file     *os.File // the archive; nil for a file in memory
	at       int64    // where a file is in the archive
	sum      [sha256.Size]byte
	children []fs.DirEntry
}

func newTree(file *os.File) *archiveFS {
	return &archiveFS{file: file, nodes: map[string]*node{".": {mode: fs.ModeDir | 0o755}}}
}

// add adds an entry and its parent directories.
func (t *archiveFS) add(name string, n *node) error {
	if before, ok := t.nodes[name]; ok {
		if before.mode.IsDir() && n.mode.IsDir() {
			return nil
		}
		return refuse("%s is there twice", name)
	}
	if parent := path.Dir(name); parent != "." {
		switch above, ok := t.nodes[parent]; {
		case ok && !above.mode.IsDir():
			return refuse("%s is below %s, which is no directory", name, parent)
		case !ok:
			if err := t.add(parent, &node{mode: fs.ModeDir | 0o755}); err != nil {
				return err
			}
		}
	}
	t.nodes[name] = n
	return nil
}

// finish sets the children of all directories.
func (t *archiveFS) finish() (*archiveFS, error) {
	for name, n := range t.nodes {
		if name != "." {
			above := t.nodes[path.Dir(name)]
			above.children = append(above.children, fs.FileInfoToDirEntry(&info{path.Base(name), n}))
		}
	}
	for _, n := range t.nodes {
		slices.SortFunc(n.children, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	}
	return t, nil
}

// maxLinks is the maximum number of symbolic links in the resolution of a path, as in Linux.
const maxLinks = 40

// lookup returns an entry. It follows symbolic links in the path, and in its last element if follow is set.
func (t *archiveFS) lookup(name string, follow bool) (*node, error) {
	if !fs.ValidPath(name) {
		return nil, fs.ErrInvalid
	}
	done, rest := ".", name
	for links := 0; rest != "." && rest != ""; {
		var first string
		first, rest, _ = strings.Cut(rest, "/")
		at := path.Join(done, first)
		n, ok := t.nodes[at]
		switch {
		case !ok:
			return nil, fs.ErrNotExist
		case n.mode&fs.ModeSymlink == 0 || rest == "" && !follow:
			done = at
			continue
		}
		if links++; links > maxLinks {
			return nil, errors.New("too many symbolic links")
		}
		done, rest = ".", path.Join(path.Dir(at), n.target, rest)
		if rest == ".." || strings.HasPrefix(rest, "../") {
			return nil, errors.New("a symbolic link leads out of the archive")
		}
	}
	return t.nodes[done], nil
}

// Open implements fs.FS.
func (t *archiveFS) Open(name string) (fs.File, error) {
	n, err := t.lookup(name, true)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	about := &info{path.Base(name), n}
	if n.mode.IsDir() {
		return memfs.NewDir(about, n.children), nil
	}
	data, err := n.content()
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return memfs.Open(about, data), nil
}

// ReadFile implements fs.ReadFileFS.
func (t *archiveFS) ReadFile(name string) ([]byte, error) {
	n, err := t.lookup(name, true)
	if err == nil && n.mode.IsDir() {
		err = errors.New("is a directory")
	}
	var data []byte
	if err == nil {
		data, err = n.content()
	}
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return bytes.Clone(data), nil
}

// content reads a file, and compares it with its checksum from the time when the archive was opened.
func (n *node) content() ([]byte, error) {
	if n.file == nil {
		return n.data, nil
	}
	data := make([]byte, n.size)
	if _, err := n.file.ReadAt(data, n.at); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if sha256.Sum256(data) != n.sum {
		return nil, fmt.Errorf("the file in the cache was changed after it was opened: %w", ErrNotStored)
	}
	return data, nil
}

// ReadDir implements fs.ReadDirFS.
func (t *archiveFS) ReadDir(name string) ([]fs.DirEntry, error) {
	n, err := t.lookup(name, true)
	if err == nil && !n.mode.IsDir() {
		err = errors.New("not a directory")
	}
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	return slices.Clone(n.children), nil
}

// Stat implements fs.StatFS.
func (t *archiveFS) Stat(name string) (fs.FileInfo, error) { return t.about("stat", name, true) }

// Lstat implements fs.ReadLinkFS.
func (t *archiveFS) Lstat(name string) (fs.FileInfo, error) { return t.about("lstat", name, false) }

func (t *archiveFS) about(op, name string, follow bool) (fs.FileInfo, error) {
	n, err := t.lookup(name, follow)
	if err != nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: err}
	}
	return &info{path.Base(name), n}, nil
}

// ReadLink implements fs.ReadLinkFS.
func (t *archiveFS) ReadLink(name string) (string, error) {
	n, err := t.lookup(name, false)
	if err == nil && n.mode&fs.ModeSymlink == 0 {
		err = fs.ErrInvalid
	}
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
	}
	return n.target, nil
}

// info describes an entry. Times of archives are ignored.
type info struct {
	name string
	*node
}

func (i *info) Name() string       { return i.name }
func (i *info) Size() int64        { return i.size }
func (i *info) Mode() fs.FileMode  { return i.mode }
func (i *info) ModTime() time.Time { return time.Time{} }
func (i *info) IsDir() bool        { return i.mode.IsDir() }
func (i *info) Sys() any           { return nil }
