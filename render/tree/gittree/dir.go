package gittree

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
)

// Dir opens a plain directory, without git. Symbolic links must not leave it. Anything that is neither a file nor a
// directory cannot be opened. The directory stays open until the tree is garbage collected.
func Dir(path string) (fs.FS, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("open directory %s: %w", path, err)
	}
	return &dirFS{root: root, under: root.FS().(rootFS)}, nil
}

// maxPrealloc limits the memory that is allocated for a file before it is read, in bytes: the reported size may be
// wrong.
const maxPrealloc = 1 << 20

// rootFS is the type of the result of os.Root.FS.
type rootFS interface {
	fs.ReadDirFS
	fs.ReadFileFS
	fs.StatFS
	fs.ReadLinkFS
}

// dirFS keeps a reference to the os.Root of its files, and refuses pipes, sockets and devices, reading which might
// never end.
type dirFS struct {
	root  *os.Root
	under rootFS
}

// Open implements fs.FS.
func (d *dirFS) Open(name string) (fs.File, error) {
	info, err := d.under.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("is neither a file nor a directory")}
	}
	return d.under.Open(name)
}

// ReadFile implements fs.ReadFileFS.
func (d *dirFS) ReadFile(name string) ([]byte, error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var data bytes.Buffer
	data.Grow(int(min(info.Size(), maxPrealloc)) + bytes.MinRead)
	_, err = data.ReadFrom(f)
	return data.Bytes(), err
}

// ReadDir implements fs.ReadDirFS.
func (d *dirFS) ReadDir(name string) ([]fs.DirEntry, error) { return d.under.ReadDir(name) }

// Stat implements fs.StatFS.
func (d *dirFS) Stat(name string) (fs.FileInfo, error) { return d.under.Stat(name) }

// Lstat implements fs.ReadLinkFS.
func (d *dirFS) Lstat(name string) (fs.FileInfo, error) { return d.under.Lstat(name) }

// ReadLink implements fs.ReadLinkFS.
func (d *dirFS) ReadLink(name string) (string, error) { return d.under.ReadLink(name) }
