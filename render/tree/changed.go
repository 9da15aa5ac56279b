package tree

import (
	"io/fs"

	"github.com/preadmit/preadmit/internal/memfs"
)

// Changed returns the tree with another content of one file. It reuses what is known about the files of a trace.
func Changed(t *Tree, real string, data []byte, known Trace) *Tree {
	out := New(&changedFS{FS: t.Fsys, tree: t, path: real, data: data}, t.Limits)
	out.cache = t.cache
	for file, id := range known.Reads {
		if file != real {
			out.identities.Store(file, id)
		}
	}
	return out
}

// changedFS is a file system with another content of one file.
type changedFS struct {
	fs.FS
	tree *Tree
	path string
	data []byte
}

var _ fs.ReadLinkFS = (*changedFS)(nil)

// Open implements fs.FS.
func (c *changedFS) Open(name string) (fs.File, error) {
	if name != c.path {
		return c.FS.Open(name)
	}
	return memfs.NewFile(name, c.data), nil
}

// Lstat implements fs.ReadLinkFS.
func (c *changedFS) Lstat(name string) (fs.FileInfo, error) { return c.tree.Lstat(name) }

// ReadLink implements fs.ReadLinkFS.
func (c *changedFS) ReadLink(name string) (string, error) {
	if c.tree.Links == nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	return c.tree.Links.ReadLink(name)
}
