// Package paths interprets paths of directories in a repository that Flux or Argo CD deploys: where they are in the
// tree, and which cluster they belong to.
package paths

import (
	"fmt"
	"path"
	"strings"

	"github.com/preadmit/preadmit/render/tree"
)

// InTree returns the path in the tree for a path that a deployer uses, which may begin with a slash or leave the tree.
func InTree(name string) string { return path.Join(".", path.Clean("/" + name)[1:]) }

// Within reports whether a path is that of a directory, or in it.
func Within(dir, name string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}

// OfCluster returns the directory of the cluster that a directory belongs to: clusters/NAME if it contains that, or
// else the directory itself.
func OfCluster(dir string) string {
	parts := strings.Split(dir, "/")
	for i := 0; i+1 < len(parts); i++ {
		if parts[i] == "clusters" {
			return path.Join(parts[:i+2]...)
		}
	}
	return dir
}

// AreClusters reports whether two directories are clusters/NAME, with different names.
func AreClusters(a, b string) bool {
	return a != b && path.Base(path.Dir(a)) == "clusters" && path.Dir(a) == path.Dir(b)
}

// IsHidden reports whether the name of a directory, or of one above it, begins with a dot.
func IsHidden(dir string) bool {
	return strings.HasPrefix(dir, ".") && dir != "." || strings.Contains(dir, "/.")
}

// Below returns the path of a directory relative to top, or unchanged if it is not within top.
func Below(top, dir string) string {
	if top == "." || !Within(top, dir) {
		return dir
	}
	return path.Join(".", strings.TrimPrefix(dir[len(top):], "/"))
}

// RootFiles returns the files that make a directory a root: its kustomization.
func RootFiles(t *tree.Tree, dir string) (files []string) {
	for _, name := range tree.KustomizationNames() {
		at := path.Join(dir, name)
		if to := t.Resolve(at); to.Err == nil && !to.IsDir {
			files = append(files, at)
		}
	}
	return files
}

// EntryError is an error for an entry point that does not exist.
type EntryError struct{ Dir string }

func (e *EntryError) Error() string {
	return fmt.Sprintf("%s is neither a directory nor a file that has an Application or ApplicationSet of Argo CD", e.Dir)
}
