// Package treetest makes trees for tests.
package treetest

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"testing/fstest"
)

// Named is a tree in memory whose files and directories have unique names of their contents, like a git tree. Its files
// must not be changed. It is safe for concurrent use.
type Named struct {
	fstest.MapFS
	names map[string]string // of directories
}

// Name returns a tree with names for its files and directories.
func Name(files fstest.MapFS) *Named {
	n := &Named{MapFS: files, names: map[string]string{}}
	n.name(".")
	return n
}

// name sets the names of a directory and those below it.
func (n *Named) name(dir string) string {
	entries, err := n.ReadDir(dir)
	if err != nil {
		panic(err) // reading in memory does not fail
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return slices.Compare([]byte(a.Name()), []byte(b.Name())) })
	text := ""
	for _, e := range entries {
		at := path.Join(dir, e.Name())
		if e.IsDir() {
			text += fmt.Sprintf("tree %s %q\n", n.name(at), e.Name())
		} else {
			text += fmt.Sprintf("%v %s %q\n", e.Type(), n.blob(at), e.Name())
		}
	}
	n.names[dir] = hash("tree", text)
	return n.names[dir]
}

func (n *Named) blob(name string) string { return hash("blob", string(n.MapFS[name].Data)) }

// hash returns a hash of an object, computed like git's.
func hash(kind, text string) string {
	sum := sha1.Sum(fmt.Appendf(nil, "%s %d\x00%s", kind, len(text), text))
	return hex.EncodeToString(sum[:])
}

// ObjectID returns the name of the file or symbolic link at a path.
func (n *Named) ObjectID(name string) (string, error) {
	if file := n.MapFS[name]; file != nil && !file.Mode.IsDir() {
		return n.blob(name), nil
	}
	return "", &fs.PathError{Op: "identify", Path: name, Err: fs.ErrNotExist}
}

// TreeID returns the name of the directory at a path without symbolic links.
func (n *Named) TreeID(name string) (string, error) {
	if id, ok := n.names[name]; ok {
		return id, nil
	}
	return "", &fs.PathError{Op: "identify", Path: name, Err: fs.ErrNotExist}
}

// Submodule returns the content of an irregular file, which stands for a git submodule.
func (n *Named) Submodule(name string) (commit string, ok bool) {
	file := n.MapFS[name]
	if file == nil || file.Mode&fs.ModeIrregular == 0 {
		return "", false
	}
	return string(file.Data), true
}
