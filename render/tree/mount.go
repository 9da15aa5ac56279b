package tree

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/preadmit/preadmit/render/artifact"
)

// ErrNoArtifacts is the error of a file system without artifacts.
var ErrNoArtifacts = errors.New("the tree has no artifacts")

// mounts is a file system with artifacts as directories.
type mounts interface {
	// Mount returns the directory of an artifact.
	Mount(a artifact.Artifact) (dir string, err error)
}

// Mount returns the directory in the tree with the files of an artifact, or the path of a file. It fails if the
// artifact is missing. ok is false if the tree has no artifacts at all.
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

// Mounted returns the directory with the files of an artifact. If there is none, absent is the description of
// the source, followed by the reason.
func (t *Tree) Mounted(source string, a artifact.Artifact) (dir, absent string) {
	dir, ok, err := t.Mount(a)
	missing := new(artifact.MissingError)
	switch {
	case !ok:
		return "", source + ", which is not fetched: preadmit fetch gets it"
	case errors.As(err, &missing):
		return "", fmt.Sprintf("%s, which is not there: %s; %s", source, missing.Why, missing.Hint)
	case err != nil:
		return "", fmt.Sprintf("%s, which cannot be used: %v", source, err)
	}
	return dir, ""
}

// contents is a file system with artifacts that are not directories.
type contents interface {
	// Bytes returns the content of an artifact.
	Bytes(a artifact.Artifact) ([]byte, artifact.Pin, error)
}

// Bytes returns the content of an artifact that is not a directory, such as a chart. The error is an
// *artifact.MissingError if it is missing, and ErrNoArtifacts for a tree without artifacts.
func (t *Tree) Bytes(a artifact.Artifact) ([]byte, artifact.Pin, error) {
	if known, ok := t.Fsys.(contents); ok {
		return known.Bytes(a)
	}
	return nil, artifact.Pin{}, ErrNoArtifacts
}

// Bytes implements contents.
func (c *changedFS) Bytes(a artifact.Artifact) ([]byte, artifact.Pin, error) { return c.tree.Bytes(a) }

// bytesMark is the prefix of the identity of an artifact that is not a directory.
const bytesMark = "artifact "

// bytesPrefix is the prefix of the names of such artifacts in traces.
const bytesPrefix = "artifact\x00"

// bytesName returns the name under which traces record an artifact that is not a directory. It has no slash, and is not
// the path of a file.
func bytesName(a artifact.Artifact) string {
	return bytesPrefix + url.Values{"kind": {string(a.Kind)}, "url": {a.URL}, "name": {a.Name}, "version": {a.Version}}.Encode()
}

// TraceBytes records that an artifact was requested, with the digest of its content.
func (t *Tree) TraceBytes(a artifact.Artifact, trace Trace) {
	if id, err := t.Identity(bytesName(a)); err == nil {
		trace.Reads[bytesName(a)] = id
	}
}

// identifyBytes returns the identity of an artifact, given its name in traces.
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

// WhyAbsent returns why the archive of a chart is not there, for an error of Bytes.
func WhyAbsent(a artifact.Artifact, err error) string {
	switch {
	case errors.Is(err, ErrNoArtifacts):
		missing := &artifact.MissingError{Artifact: a, Why: "no charts were given", Hint: "preadmit fetch gets it, and --artifacts names a directory with archives"}
		return missing.Error()
	case errors.As(err, new(*artifact.MissingError)):
		return err.Error()
	}
	return fmt.Sprintf("%s cannot be read: %v", a, err)
}
