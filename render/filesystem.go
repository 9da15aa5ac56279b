package render

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// mount is where the top of the tree lies for kustomize. Below a directory of
// its own, `..` out of the repository and absolute paths lead nowhere.
const mount = "/.tree"

var errReadOnly = errors.New("the tree is read-only")

// serveFunc returns what kustomize reads of a file, given its path without links.
type serveFunc func(real string, data []byte) []byte

// kustomizeFS is the tree as kustomize sees it for one build. Kustomize calls
// CleanedAbs and ReadFile, and RemoveAll to clean up clones it never makes. Not
// safe for concurrent use.
type kustomizeFS struct {
	tree  *tree
	trace Trace
	// serve, when set, may change what kustomize gets to see of a file.
	serve serveFunc
	// costly is the first file that was refused for its cost.
	costly *Problem
}

var _ filesys.FileSystem = (*kustomizeFS)(nil)

// inTree turns a path of kustomize's into one of the tree.
func inTree(name string) (string, error) {
	clean := filepath.ToSlash(filepath.Clean(name))
	if clean == mount {
		return ".", nil
	}
	rel, ok := strings.CutPrefix(clean, mount+"/")
	if !ok {
		return "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return rel, nil
}

// mounted is a path of the tree as kustomize sees it.
func mounted(name string) string { return path.Join(mount, name) }

// CleanedAbs splits a path, without its symbolic links, into directory and file.
func (k *kustomizeFS) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	rel, err := inTree(name)
	if err != nil {
		return "", "", err
	}
	r := k.tree.resolve(rel)
	if r.err != nil {
		k.trace.missed(rel, r)
		return "", "", fmt.Errorf("%s: %w", rel, r.err)
	}
	k.trace.passed(r.links)
	if r.isDir {
		return filesys.ConfirmedDir(mounted(r.real)), "", nil
	}
	return filesys.ConfirmedDir(mounted(path.Dir(r.real))), path.Base(r.real), nil
}

// ReadFile reads a file and notes it in the trace.
func (k *kustomizeFS) ReadFile(name string) ([]byte, error) {
	rel, err := inTree(name)
	if err != nil {
		return nil, err
	}
	data, real, err := k.tree.load(rel, k.trace)
	if err != nil {
		if p := costly(err); p != nil && k.costly == nil {
			k.costly = p
		}
		return nil, err
	}
	if k.serve != nil {
		data = k.serve(real, data)
	}
	return data, nil
}

// load reads the file a path leads to, within the limits, and notes it in a trace.
func (t *tree) load(name string, trace Trace) (data []byte, real string, err error) {
	r := t.resolve(name)
	if r.err != nil {
		trace.missed(name, r)
		return nil, "", fmt.Errorf("%s: %w", name, r.err)
	}
	trace.passed(r.links)
	if r.isDir {
		return nil, "", &fs.PathError{Op: "read", Path: name, Err: errIsDir}
	}
	if data, err = t.read(r.real); err != nil {
		return nil, "", err
	}
	id, err := t.identity(r.real)
	if err != nil {
		return nil, "", err
	}
	if !t.isIdentified() && objectID(data) != id {
		return nil, "", fmt.Errorf("%s was changed while it was read", r.real)
	}
	trace.Reads[r.real] = id
	if bad := t.guardFile(data, id); bad != nil {
		return nil, "", &locatedBomb{bad, Position{Path: r.real, Line: bad.line}}
	}
	return data, r.real, nil
}

// RemoveAll does nothing: there is nothing of kustomize's to clean up.
func (k *kustomizeFS) RemoveAll(string) error { return nil }

// IsDir tells whether a path leads to a directory.
func (k *kustomizeFS) IsDir(name string) bool {
	rel, err := inTree(name)
	if err != nil {
		return false
	}
	r := k.tree.resolve(rel)
	return r.err == nil && r.isDir
}

// Exists tells whether a path leads anywhere.
func (k *kustomizeFS) Exists(name string) bool {
	rel, err := inTree(name)
	return err == nil && k.tree.resolve(rel).err == nil
}

// Create refuses.
func (k *kustomizeFS) Create(string) (filesys.File, error) { return nil, errReadOnly }

// Mkdir refuses.
func (k *kustomizeFS) Mkdir(string) error { return errReadOnly }

// MkdirAll refuses.
func (k *kustomizeFS) MkdirAll(string) error { return errReadOnly }

// WriteFile refuses.
func (k *kustomizeFS) WriteFile(string, []byte) error { return errReadOnly }

// Open is not needed by a build.
func (k *kustomizeFS) Open(string) (filesys.File, error) { return nil, errors.ErrUnsupported }

// ReadDir is not needed by a build.
func (k *kustomizeFS) ReadDir(string) ([]string, error) { return nil, errors.ErrUnsupported }

// Glob is not needed by a build.
func (k *kustomizeFS) Glob(string) ([]string, error) { return nil, errors.ErrUnsupported }

// Walk is not needed by a build.
func (k *kustomizeFS) Walk(string, filepath.WalkFunc) error { return errors.ErrUnsupported }
