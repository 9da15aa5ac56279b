package build

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

// Mount is the path of the tree's top for kustomize. Below a directory of its own, `..` out of the repository
// and absolute paths lead nowhere.
const Mount = "/.tree"

var errReadOnly = errors.New("the tree is read-only")

// ServeFunc returns the content that kustomize reads for a file, given its path without symbolic links.
type ServeFunc func(real string, data []byte) []byte

// FileSystem is the tree as kustomize sees it for one build. Kustomize calls
// CleanedAbs and ReadFile, and RemoveAll to clean up clones it never makes. Not
// safe for concurrent use.
type FileSystem struct {
	Tree  *tree.Tree
	Trace tree.Trace
	// Closure is the closure to build. Kustomize reads its kustomization files.
	Closure *Closure
	// Serve, if set, may change the content that kustomize reads for a file.
	Serve ServeFunc
	// Costly is the first file that was refused because it exceeds a limit.
	Costly *render.Problem
}

var _ filesys.FileSystem = (*FileSystem)(nil)

// InTree converts one of kustomize's paths to a path of the tree.
func InTree(name string) (string, error) {
	clean := filepath.ToSlash(filepath.Clean(name))
	if clean == Mount {
		return ".", nil
	}
	rel, ok := strings.CutPrefix(clean, Mount+"/")
	if !ok {
		return "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return rel, nil
}

// Mounted converts a path of the tree to the path that kustomize sees.
func Mounted(name string) string { return path.Join(Mount, name) }

// CleanedAbs splits a path, without its symbolic links, into directory and file.
func (k *FileSystem) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	rel, err := InTree(name)
	if err != nil {
		return "", "", err
	}
	if k.Closure.inComponent(rel) {
		dir, file, ok := k.Closure.inflatedAt(rel)
		if !ok {
			return "", "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return filesys.ConfirmedDir(Mounted(dir)), file, nil
	}
	if _, ok := k.Closure.standIn(rel); ok {
		dir, _, err := k.CleanedAbs(path.Dir(name))
		return dir, path.Base(rel), err
	}
	r := k.Tree.Resolve(rel)
	if r.Err != nil {
		k.Trace.AddMiss(rel, r)
		return "", "", fmt.Errorf("%s: %w", rel, r.Err)
	}
	k.Trace.AddLinks(r.Links)
	if r.IsDir {
		return filesys.ConfirmedDir(Mounted(r.Real)), "", nil
	}
	return filesys.ConfirmedDir(Mounted(path.Dir(r.Real))), path.Base(r.Real), nil
}

// ReadFile reads a file and records it in the trace.
func (k *FileSystem) ReadFile(name string) ([]byte, error) {
	rel, err := InTree(name)
	if err != nil {
		return nil, err
	}
	if data, ok := k.Closure.standIn(rel); ok {
		return data, nil
	}
	if k.Closure.inComponent(rel) {
		data, ok := k.Closure.inflated(rel)
		if !ok {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return k.serve(rel, data), nil
	}
	data, real, err := k.Tree.Load(rel, k.Trace)
	if err != nil {
		if p := render.OverLimit(err); p != nil && k.Costly == nil {
			k.Costly = p
		}
		return nil, err
	}
	return k.Closure.withoutCharts(real, k.serve(real, k.Closure.rewritten(real, data)))
}

func (k *FileSystem) serve(real string, data []byte) []byte {
	if k.Serve == nil {
		return data
	}
	return k.Serve(real, data)
}

// RemoveAll does nothing: kustomize created nothing.
func (k *FileSystem) RemoveAll(string) error { return nil }

// IsDir reports whether a path leads to a directory.
func (k *FileSystem) IsDir(name string) bool {
	rel, err := InTree(name)
	if err != nil {
		return false
	}
	r := k.Tree.Resolve(rel)
	return r.Err == nil && r.IsDir
}

// Exists reports whether a path leads anywhere.
func (k *FileSystem) Exists(name string) bool {
	rel, err := InTree(name)
	return err == nil && k.Tree.Resolve(rel).Err == nil
}

// Create returns errReadOnly.
func (k *FileSystem) Create(string) (filesys.File, error) { return nil, errReadOnly }

// Mkdir returns errReadOnly.
func (k *FileSystem) Mkdir(string) error { return errReadOnly }

// MkdirAll returns errReadOnly.
func (k *FileSystem) MkdirAll(string) error { return errReadOnly }

// WriteFile returns errReadOnly.
func (k *FileSystem) WriteFile(string, []byte) error { return errReadOnly }

// Open is unsupported: builds do not use it.
func (k *FileSystem) Open(string) (filesys.File, error) { return nil, errors.ErrUnsupported }

// ReadDir is unsupported: builds do not use it.
func (k *FileSystem) ReadDir(string) ([]string, error) { return nil, errors.ErrUnsupported }

// Glob is unsupported: builds do not use it.
func (k *FileSystem) Glob(string) ([]string, error) { return nil, errors.ErrUnsupported }

// Walk is unsupported: builds do not use it.
func (k *FileSystem) Walk(string, filepath.WalkFunc) error { return errors.ErrUnsupported }
