package change

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render/tree"
)

func (s *Side) Has(name string) bool {
	if s == nil {
		return false
	}
	_, err := fs.Stat(s.Files, path.Clean(name))
	return err == nil
}

func (s *Side) HasKustomization(dir string) bool { return s.MainFile(dir) != dir }

// MainFile returns the kustomization file of a directory, or the directory if it has none.
func (s *Side) MainFile(dir string) string {
	entries, _ := fs.ReadDir(s.Files, dir)
	for _, entry := range entries {
		if tree.IsKustomizationName(entry.Name()) {
			return path.Join(dir, entry.Name())
		}
	}
	return dir
}

// SameFile reports whether a file is the same on two sides.
func (s *Side) SameFile(other *Side, name string) bool {
	a, err := fs.ReadFile(s.Files, name)
	if err != nil {
		return false
	}
	b, err := fs.ReadFile(other.Files, name)
	return err == nil && bytes.Equal(a, b)
}

// Path returns the path of a file of the side for display: the path in the tree or, for an extra,
// the path that the user gave.
func (s *Side) Path(file string) string {
	if !s.Extra {
		return file
	}
	name := strings.TrimSuffix(s.Name, "/")
	if path.Base(name) == file {
		return name
	}
	return path.Join(name, file)
}

// TreeName returns the value of Location.Tree for the side. Extras belong to both trees and have
// that of the head.
func (s *Side) TreeName() string {
	if s.Extra {
		return Head
	}
	return s.Name
}

// Under reports whether the directory name is dir or below it.
func Under(dir, name string) bool {
	if dir = path.Clean(dir); dir == "." {
		return true
	}
	return name == dir || strings.HasPrefix(name, dir+"/")
}

// UnderAny reports whether a name is one of some paths or below one. It is true if there are no
// paths.
func UnderAny(paths []string, name string) bool {
	return len(paths) == 0 || slices.ContainsFunc(paths, func(dir string) bool { return Under(dir, name) })
}
