package kustomize

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/preadmit/preadmit/internal/memfs"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/tree"
)

// childFS is the parent's tree as a child process sees it. The renderer asks for
// one thing at a time.
type childFS struct {
	in  *json.Decoder
	out *json.Encoder
}

var _ fs.ReadLinkFS = (*childFS)(nil)

func (c *childFS) ask(op, name string, ask childAsk) (childAnswer, error) {
	var answer childAnswer
	if err := c.out.Encode(ask); err != nil {
		return answer, fmt.Errorf("ask the parent: %w", err)
	}
	if err := c.in.Decode(&answer); err != nil {
		return answer, fmt.Errorf("ask the parent: %w", err)
	}
	switch {
	case answer.Missing:
		return answer, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	case answer.Error != "":
		return answer, errors.New(answer.Error)
	}
	return answer, nil
}

// Lstat implements fs.ReadLinkFS.
func (c *childFS) Lstat(name string) (fs.FileInfo, error) {
	answer, err := c.ask("lstat", name, childAsk{Stat: name})
	if err != nil {
		return nil, err
	}
	return memfs.NewInfo(name, answer.Mode, answer.Size), nil
}

// ReadLink implements fs.ReadLinkFS.
func (c *childFS) ReadLink(name string) (string, error) {
	answer, err := c.ask("readlink", name, childAsk{Link: name})
	return answer.Target, err
}

// Mount returns the directory of an artifact.
func (c *childFS) Mount(a artifact.Artifact) (string, error) {
	answer, err := c.ask("mount", a.String(), childAsk{Mount: &a})
	if answer.None {
		return "", tree.ErrNoArtifacts
	}
	return answer.Target, err
}

// Open implements fs.FS for files without symbolic links in their path.
func (c *childFS) Open(name string) (fs.File, error) {
	answer, err := c.ask("open", name, childAsk{Read: name})
	if err != nil {
		return nil, err
	}
	return memfs.NewFile(name, answer.Data), nil
}
