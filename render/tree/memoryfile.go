package tree

import (
	"bytes"
	"io/fs"
	"path"
	"time"
)

// NewMemoryFile returns an open file of that name and content.
func NewMemoryFile(name string, data []byte) fs.File {
	info := memoryInfo{name: path.Base(name), mode: 0o444, size: int64(len(data))}
	return &memoryFile{bytes.NewReader(data), info}
}

// NewFileInfo returns what is known of a file.
func NewFileInfo(name string, mode fs.FileMode, size int64) fs.FileInfo {
	return memoryInfo{name: path.Base(name), mode: mode, size: size}
}

type memoryInfo struct {
	name string
	mode fs.FileMode
	size int64
}

func (i memoryInfo) Name() string { return i.name }

func (i memoryInfo) Size() int64 { return i.size }

func (i memoryInfo) Mode() fs.FileMode { return i.mode }

func (i memoryInfo) ModTime() time.Time { return time.Time{} }

func (i memoryInfo) IsDir() bool { return i.mode.IsDir() }

func (i memoryInfo) Sys() any { return nil }

type memoryFile struct {
	*bytes.Reader
	info memoryInfo
}

func (f *memoryFile) Stat() (fs.FileInfo, error) { return f.info, nil }

func (f *memoryFile) Close() error { return nil }
