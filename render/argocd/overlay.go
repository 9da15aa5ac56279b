package argocd

import (
	"io/fs"

	"github.com/preadmit/preadmit/internal/memfs"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/tree"
)

// overlay is a tree with other contents of some files, which need not exist in the tree.
type overlay struct {
	tree  *tree.Tree
	files map[string][]byte
}

var (
	_ fs.ReadLinkFS = (*overlay)(nil)
	_ fs.ReadDirFS  = (*overlay)(nil)
)

// Lstat implements fs.ReadLinkFS.
func (o *overlay) Lstat(name string) (fs.FileInfo, error) {
	if data, ok := o.files[name]; ok {
		return memfs.NewInfo(name, 0o444, int64(len(data))), nil
	}
	return o.tree.Lstat(name)
}

// Open implements fs.FS.
func (o *overlay) Open(name string) (fs.File, error) {
	if data, ok := o.files[name]; ok {
		return memfs.NewFile(name, data), nil
	}
	return o.tree.Fsys.Open(name)
}

// ReadDir implements fs.ReadDirFS.
func (o *overlay) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(o.tree.Fsys, name) }

// ReadLink implements fs.ReadLinkFS.
func (o *overlay) ReadLink(name string) (string, error) {
	if o.tree.Links == nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	return o.tree.Links.ReadLink(name)
}

// ObjectID returns git's name of the content of a file.
func (o *overlay) ObjectID(name string) (string, error) {
	if data, ok := o.files[name]; ok {
		return tree.ObjectID(data), nil
	}
	return o.tree.Identity(name)
}

// Mount returns the directory of an artifact.
func (o *overlay) Mount(a artifact.Artifact) (string, error) {
	name, ok, err := o.tree.Mount(a)
	if !ok {
		return "", tree.ErrNoArtifacts
	}
	return name, err
}
