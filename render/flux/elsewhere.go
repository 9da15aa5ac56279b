package flux

import (
	"context"
	"fmt"
	"io/fs"
	"path"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/artifact"
	overlaid "github.com/preadmit/preadmit/render/artifact/overlay"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// mounted is a tree with the files of an artifact at its top. Other artifacts keep their paths.
type mounted struct {
	tree *tree.Tree
	// top is the directory of the artifact in the tree.
	top string
}

var (
	_ fs.ReadLinkFS = (*mounted)(nil)
	_ fs.ReadDirFS  = (*mounted)(nil)
)

// at returns the path in the underlying tree.
func (m *mounted) at(name string) string {
	if overlaid.Under(name) {
		return name
	}
	return path.Join(m.top, name)
}

// Open implements fs.FS.
func (m *mounted) Open(name string) (fs.File, error) { return m.tree.Fsys.Open(m.at(name)) }

// ReadDir implements fs.ReadDirFS.
func (m *mounted) ReadDir(name string) ([]fs.DirEntry, error) {
	return fs.ReadDir(m.tree.Fsys, m.at(name))
}

// ReadFile implements fs.ReadFileFS.
func (m *mounted) ReadFile(name string) ([]byte, error) { return fs.ReadFile(m.tree.Fsys, m.at(name)) }

// Lstat implements fs.ReadLinkFS.
func (m *mounted) Lstat(name string) (fs.FileInfo, error) { return m.tree.Lstat(m.at(name)) }

// ReadLink implements fs.ReadLinkFS.
func (m *mounted) ReadLink(name string) (string, error) {
	if m.tree.Links == nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	return m.tree.Links.ReadLink(m.at(name))
}

// ObjectID returns git's name of the content of a file.
func (m *mounted) ObjectID(name string) (string, error) { return m.tree.Identity(m.at(name)) }

// Mount returns the directory of an artifact.
func (m *mounted) Mount(a artifact.Artifact) (string, error) {
	name, ok, err := m.tree.Mount(a)
	if !ok {
		return "", tree.ErrNoArtifacts
	}
	return name, err
}

// inTree returns the path in the tree of a file of the unit's source.
func (u *unit) inTree(name string) string {
	if u.home == nil || name == "" {
		return name
	}
	return u.home.at(name)
}

// isElsewhere reports whether a path in the tree is in the artifact that is the unit's source, or in an artifact that
// the unit needs.
func (u *unit) isElsewhere(name string) bool { return u.home != nil && overlaid.Under(name) }

// revision returns where the revision of the source is written or, if it is not in the repository, where the source is
// named.
func (u *unit) revision() tree.Position {
	if at, ok := u.root.Unit.FirstPosition(context.Background(), u.root.Unit.Revision); ok {
		return at
	}
	return u.written("spec.sourceRef")
}

// atSource moves a problem in an artifact to the field that selects the artifact.
func (u *unit) atSource(p *render.Problem) *render.Problem {
	if p == nil || !u.isElsewhere(p.Path) {
		return p
	}
	out := *p
	out.Position, out.Message = u.revision(), fmt.Sprintf("%s: %s", p.Position, p.Message)
	return &out
}

// atSources returns origins with all places in the repository: fields written in an artifact have the place of its
// revision.
func (u *unit) atSources(all []*origin.Origin) []*origin.Origin {
	if u.home == nil {
		return all
	}
	out := make([]*origin.Origin, len(all))
	for i, o := range all {
		out[i] = o.Moved(func(p tree.Position) (tree.Position, string) {
			if !u.isElsewhere(p.Path) {
				return p, ""
			}
			return u.revision(), fmt.Sprintf("it is written in %s, which is not in the repository", p)
		})
	}
	return out
}
