package tree

import (
	"errors"
	"net/url"
	"strings"

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

// bytesMark distinguishes the identity of an artifact that is no directory.
const bytesMark = "artifact "

// bytesPrefix is how the names of artifacts in traces begin.
const bytesPrefix = "artifact\x00"

// bytesName is the path by which traces note an artifact that is no directory. It has no slash, and
// is that of no file.
func bytesName(a artifact.Artifact) string {
	return bytesPrefix + url.Values{"kind": {string(a.Kind)}, "url": {a.URL}, "name": {a.Name}, "version": {a.Version}}.Encode()
}

// TraceBytes notes that an artifact was looked for, with the digest of what is there.
func (t *Tree) TraceBytes(a artifact.Artifact, trace Trace) {
	if id, err := t.Identity(bytesName(a)); err == nil {
		trace.Reads[bytesName(a)] = id
	}
}

// identifyBytes identifies an artifact by its name in traces.
func (t *Tree) identifyBytes(name string) (string, error) {
	values, err := url.ParseQuery(strings.TrimPrefix(name, bytesPrefix))
	if err != nil {
		return "", err
	}
	a := artifact.Artifact{Kind: artifact.Kind(values.Get("kind")), URL: values.Get("url"), Name: values.Get("name"), Version: values.Get("version")}
	if _, pin, err := t.Bytes(a); err == nil {
		return bytesMark + pin.Digest, nil
	}
	return bytesMark + "missing", nil
}
