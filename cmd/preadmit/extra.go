package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/preadmit/preadmit/render/tree/gittree"
	"github.com/preadmit/preadmit/scanner"
)

// openExtras opens the files and directories of --policies and --context; - is stdin.
func openExtras(ctx context.Context, stdin io.Reader, f *scanFlags) ([]scanner.Extra, error) {
	var extras []scanner.Extra
	fromStdin := ""
	for _, flag := range []struct {
		name  string
		paths []string
	}{{"--policies", f.policies.values}, {"--context", f.context.values}} {
		for _, path := range flag.paths {
			if path == "-" {
				if fromStdin != "" {
					return nil, usagef("%s -: stdin is taken by %s already", flag.name, fromStdin)
				}
				fromStdin = flag.name
			}
			extra, err := openExtra(ctx, stdin, path)
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case err != nil:
				return nil, usagef("%s: %w", flag.name, err)
			}
			extras = append(extras, extra)
		}
	}
	return extras, nil
}

func openExtra(ctx context.Context, stdin io.Reader, path string) (scanner.Extra, error) {
	if path == "-" {
		data, err := readAll(ctx, stdin)
		if err != nil {
			return scanner.Extra{}, fmt.Errorf("read stdin: %w", err)
		}
		return scanner.Extra{Name: "stdin.yaml", FS: &loneFile{name: "stdin.yaml", data: data}}, nil
	}
	name := filepath.ToSlash(filepath.Clean(path))
	info, err := os.Stat(path)
	if err != nil {
		return scanner.Extra{}, err
	}
	if info.IsDir() {
		tree, err := gittree.Dir(path)
		return scanner.Extra{Name: name, FS: tree}, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return scanner.Extra{}, err
	}
	return scanner.Extra{Name: name, FS: &loneFile{name: filepath.Base(path), data: data}}, nil
}

// readAll reads a stream to its end, or until ctx is done: the stream may be a terminal that
// nobody writes to.
func readAll(ctx context.Context, r io.Reader) ([]byte, error) {
	type result struct {
		data []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		data, err := io.ReadAll(r)
		done <- result{data, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-done:
		return r.data, r.err
	}
}

// loneFile is a tree of one file, in memory.
type loneFile struct {
	name string
	data []byte
}

// Open implements fs.FS.
func (l *loneFile) Open(name string) (fs.File, error) {
	switch {
	case !fs.ValidPath(name):
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	case name == ".":
		return &loneDir{entry: fs.FileInfoToDirEntry(loneInfo{l.name, int64(len(l.data)), 0o444})}, nil
	case name == l.name:
		return &loneHandle{bytes.NewReader(l.data), loneInfo{l.name, int64(len(l.data)), 0o444}}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

type loneHandle struct {
	*bytes.Reader
	info loneInfo
}

func (h *loneHandle) Stat() (fs.FileInfo, error) { return h.info, nil }
func (h *loneHandle) Close() error               { return nil }

// loneDir is the directory of a loneFile.
type loneDir struct {
	entry fs.DirEntry
	read  bool
}

func (d *loneDir) Stat() (fs.FileInfo, error) { return loneInfo{".", 0, fs.ModeDir | 0o555}, nil }
func (d *loneDir) Close() error               { return nil }
func (d *loneDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: ".", Err: fs.ErrInvalid}
}

// ReadDir implements fs.ReadDirFile.
func (d *loneDir) ReadDir(n int) ([]fs.DirEntry, error) {
	switch {
	case !d.read:
		d.read = true
		return []fs.DirEntry{d.entry}, nil
	case n > 0:
		return nil, io.EOF
	}
	return nil, nil
}

type loneInfo struct {
	name string
	size int64
	mode fs.FileMode
}

func (i loneInfo) Name() string       { return i.name }
func (i loneInfo) Size() int64        { return i.size }
func (i loneInfo) Mode() fs.FileMode  { return i.mode }
func (i loneInfo) ModTime() time.Time { return time.Time{} }
func (i loneInfo) IsDir() bool        { return i.mode.IsDir() }
func (i loneInfo) Sys() any           { return nil }
