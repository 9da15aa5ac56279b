package render

import (
	"bytes"
	"io/fs"
	"path"
)

// with is the tree with another content of one file. What is known of the files
// of a trace is taken along.
func changedTree(t *tree, real string, data []byte, known Trace) *tree {
	out := newTree(&changedFS{FS: t.fsys, tree: t, path: real, data: data}, t.limits)
	out.memo = t.memo
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
	tree *tree
	path string
	data []byte
}

var _ fs.ReadLinkFS = (*changedFS)(nil)

// Open implements fs.FS.
func (c *changedFS) Open(name string) (fs.File, error) {
	if name != c.path {
		return c.FS.Open(name)
	}
	info := fileInfo{name: path.Base(name), mode: 0o444, size: int64(len(c.data))}
	return &memoryFile{bytes.NewReader(c.data), info}, nil
}

// Lstat implements fs.ReadLinkFS.
func (c *changedFS) Lstat(name string) (fs.FileInfo, error) { return c.tree.lstat(name) }

// ReadLink implements fs.ReadLinkFS.
func (c *changedFS) ReadLink(name string) (string, error) {
	if c.tree.links == nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	return c.tree.links.ReadLink(name)
}
