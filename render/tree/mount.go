package tree

import (
	"errors"

	"github.com/preadmit/preadmit/render/artifact"
)

// ErrNoArtifacts says that a file system has no artifacts, although it could.
var ErrNoArtifacts = errors.New("the tree has no artifacts")

// mounts is a file system that has artifacts as directories of their own.
type mounts interface {
	// Mount returns the directory of an artifact.
	Mount(a artifact.Artifact) (dir string, err error)
}

// Mount returns the directory in the tree that has the files of an artifact; of a file the
// path. It fails when the artifact is not there. ok is false when the tree has none at all.
func (t *Tree) Mount(a artifact.Artifact) (name string, ok bool, err error) {
	known, ok := t.Fsys.(mounts)
	if !ok {
		return "", false, nil
	}
	if name, err = known.Mount(a); errors.Is(err, ErrNoArtifacts) {
		return "", false, nil
	}
	return name, true, err
}

// Mount implements mounts.
func (c *changedFS) Mount(a artifact.Artifact) (string, error) {
	name, ok, err := c.tree.Mount(a)
	if !ok {
		return "", ErrNoArtifacts
	}
	return name, err
}

// contents is a file system that has artifacts which are no directories.
type contents interface {
	// Bytes returns the content of an artifact.
	Bytes(a artifact.Artifact) ([]byte, artifact.Pin, error)
}

// Bytes returns the content of an artifact that is no directory, such as a chart. What is not
// there is an *artifact.MissingError; a tree that has no artifacts at all is ErrNoArtifacts.
func (t *Tree) Bytes(a artifact.Artifact) ([]byte, artifact.Pin, error) {
	if known, ok := t.Fsys.(contents); ok {
		return known.Bytes(a)
	}
	return nil, artifact.Pin{}, ErrNoArtifacts
}

// Bytes implements contents.
func (c *changedFS) Bytes(a artifact.Artifact) ([]byte, artifact.Pin, error) { return c.tree.Bytes(a) }
