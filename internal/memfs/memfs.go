// Package memfs has open files and directories in memory, for implementations of fs.FS.
package memfs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"time"
)

// NewInfo returns the fs.FileInfo of a file or directory. It has no time.
func NewInfo(name string, mode fs.FileMode, size int64) fs.FileInfo {
	return info{name: path.Base(name), mode: mode, size: size}
}

type info struct {
	name string
	mode fs.FileMode
	size int64
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }

// NewFile returns an open file with a name and a content, which must not change.
func NewFile(name string, data []byte) fs.File {
	return Open(NewInfo(name, 0o444, int64(len(data))), data)
}

// Open returns an open file with an fs.FileInfo and a content, which must not change.
func Open(about fs.FileInfo, data []byte) fs.File { return &file{bytes.NewReader(data), about} }

type file struct {
	*bytes.Reader
	about fs.FileInfo
}

func (f *file) Stat() (fs.FileInfo, error) { return f.about, nil }
func (f *file) Close() error               { return nil }

// NewDir returns an open directory with entries in the given order.
func NewDir(about fs.FileInfo, entries []fs.DirEntry) fs.ReadDirFile { return &dir{about, entries} }

type dir struct {
	about fs.FileInfo
	// left are the entries that were not read yet.
	left []fs.DirEntry
}

// OneFile returns a tree with one file, in its root directory.
func OneFile(name string, data []byte) fs.FS { return oneFile{name, data} }

type oneFile struct {
	name string
	data []byte
}

// Open implements fs.FS.
func (o oneFile) Open(name string) (fs.File, error) {
	switch {
	case !fs.ValidPath(name):
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	case name == ".":
		about := NewInfo(o.name, 0o444, int64(len(o.data)))
		return NewDir(NewInfo(".", fs.ModeDir|0o555, 0), []fs.DirEntry{fs.FileInfoToDirEntry(about)}), nil
	case name == o.name:
		return NewFile(name, o.data), nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

var errIsDir = errors.New("is a directory")

func (d *dir) Stat() (fs.FileInfo, error) { return d.about, nil }
func (d *dir) Close() error               { return nil }
func (d *dir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.about.Name(), Err: errIsDir}
}

// ReadDir implements fs.ReadDirFile.
func (d *dir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(d.left) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(d.left) {
		n = len(d.left)
	}
	out := d.left[:n]
	d.left = d.left[n:]
	return slices.Clone(out), nil
}

// Files returns a file system with one directory that has these files.
func Files(contents map[string]string) fs.FS { return files(contents) }

type files map[string]string

// Open implements fs.FS.
func (f files) Open(name string) (fs.File, error) {
	text, ok := f[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return NewFile(name, []byte(text)), nil
}
