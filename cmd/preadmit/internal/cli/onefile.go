package cli

import (
	"bytes"
	"io"
	"io/fs"
	"time"
)

// OneFile is a tree of one file, in memory.
type OneFile struct {
	Name string
	Data []byte
}

// Open implements fs.FS.
func (l *OneFile) Open(name string) (fs.File, error) {
	switch {
	case !fs.ValidPath(name):
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	case name == ".":
		return &oneDir{entry: fs.FileInfoToDirEntry(oneInfo{l.Name, int64(len(l.Data)), 0o444})}, nil
	case name == l.Name:
		return &oneHandle{bytes.NewReader(l.Data), oneInfo{l.Name, int64(len(l.Data)), 0o444}}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

type oneHandle struct {
	*bytes.Reader
	info oneInfo
}

func (h *oneHandle) Stat() (fs.FileInfo, error) { return h.info, nil }
func (h *oneHandle) Close() error               { return nil }

// oneDir is the directory of a loneFile.
type oneDir struct {
	entry fs.DirEntry
	read  bool
}

func (d *oneDir) Stat() (fs.FileInfo, error) { return oneInfo{".", 0, fs.ModeDir | 0o555}, nil }
func (d *oneDir) Close() error               { return nil }
func (d *oneDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: ".", Err: fs.ErrInvalid}
}

// ReadDir implements fs.ReadDirFile.
func (d *oneDir) ReadDir(n int) ([]fs.DirEntry, error) {
	switch {
	case !d.read:
		d.read = true
		return []fs.DirEntry{d.entry}, nil
	case n > 0:
		return nil, io.EOF
	}
	return nil, nil
}

type oneInfo struct {
	name string
	size int64
	mode fs.FileMode
}

func (i oneInfo) Name() string       { return i.name }
func (i oneInfo) Size() int64        { return i.size }
func (i oneInfo) Mode() fs.FileMode  { return i.mode }
func (i oneInfo) ModTime() time.Time { return time.Time{} }
func (i oneInfo) IsDir() bool        { return i.mode.IsDir() }
func (i oneInfo) Sys() any           { return nil }
