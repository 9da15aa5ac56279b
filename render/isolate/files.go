package isolate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/preadmit/preadmit/internal/memfs"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/tree"
)

// files is the parent's tree in a child process. It supports one request at a time.
type files struct {
	in  *json.Decoder
	out *json.Encoder
}

var _ fs.ReadLinkFS = (*files)(nil)

func (c *files) send(op, name string, req request) (response, error) {
	var answer response
	if err := c.out.Encode(req); err != nil {
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
func (c *files) Lstat(name string) (fs.FileInfo, error) {
	answer, err := c.send("lstat", name, request{Stat: name})
	if err != nil {
		return nil, err
	}
	return memfs.NewInfo(name, answer.Mode, answer.Size), nil
}

// ReadLink implements fs.ReadLinkFS.
func (c *files) ReadLink(name string) (string, error) {
	answer, err := c.send("readlink", name, request{Link: name})
	return answer.Target, err
}

// Mount returns the directory of an artifact.
func (c *files) Mount(a artifact.Artifact) (string, error) {
	answer, err := c.send("mount", a.String(), request{Mount: &a})
	if answer.None {
		return "", tree.ErrNoArtifacts
	}
	return answer.Target, err
}

// Open implements fs.FS for files without symbolic links in their path.
func (c *files) Open(name string) (fs.File, error) {
	answer, err := c.send("open", name, request{Read: name})
	if err != nil {
		return nil, err
	}
	return memfs.NewFile(name, answer.Data), nil
}
