package store

import (
	"fmt"
	"io/fs"
	"path"

	"github.com/preadmit/preadmit/render/artifact"
)

// Submodules returns the git submodules of the archive.
func (t *archiveFS) Submodules() []artifact.Submodule { return t.modules }

// maxGrafted is the maximum number of entries of an archive with its submodules.
const maxGrafted = 400_000

// Graft returns the archive with other archives at the paths of its submodules.
func (t *archiveFS) Graft(trees map[string]fs.FS) (fs.FS, error) {
	out := newTree(nil)
	for name, n := range t.nodes {
		out.nodes[name] = n.alone()
	}
	for dir, tree := range trees {
		other, ok := tree.(*archiveFS)
		if !ok || out.nodes[dir] == nil || !out.nodes[dir].mode.IsDir() {
			return nil, fmt.Errorf("there is no submodule at %s", dir)
		}
		if len(out.nodes)+len(other.nodes) > maxGrafted {
			return nil, refuse("with its submodules it has more than %d entries", maxGrafted)
		}
		for name, n := range other.nodes {
			if name != "." {
				out.nodes[path.Join(dir, name)] = n.alone()
			}
		}
	}
	return out.finish()
}

// alone returns a copy of an entry without children. Targets of links are relative to the entry.
func (n *node) alone() *node {
	out := *n
	out.children = nil
	return &out
}
