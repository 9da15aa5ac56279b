package render

import (
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/pjbgf/sha1cd"
)

// identified is a file system that knows the git object names of its files
// without reading them, as a git tree does.
type identified interface {
	// ObjectID is the name of the blob of the file or symbolic link at a path, in
	// hex. Symbolic links on the way are not followed.
	ObjectID(name string) (string, error)
}

// isIdentified reports whether the tree knows the names of its files without reading them.
func (t *tree) isIdentified() bool {
	_, ok := t.fsys.(identified)
	return ok
}

// linkMark distinguishes the identity of a symbolic link from that of a file that
// holds the same text.
const linkMark = "symbolic link "

// dirMark is the identity of a directory, whatever is in it.
const dirMark = "directory"

// isMark tells the identity of something that is no file.
func isMark(id string) bool { return id == dirMark || strings.HasPrefix(id, linkMark) }

// objectID is the name git gives a blob: SHA-1 over its length and content. Blobs
// that were made to collide get names of their own (sha1cd).
func objectID(data []byte) string {
	h := sha1cd.New()
	_, _ = fmt.Fprintf(h, "blob %d\x00", len(data)) // a hash does not fail to be written to
	_, _ = h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// identity identifies the content of the file, the target of the symbolic link or the
// directory at a path without symbolic links before it. Limits do not apply: nothing is kept.
func (t *tree) identity(name string) (string, error) {
	if id, ok := t.identities.Load(name); ok {
		return id.(string), nil
	}
	id, err := t.identify(name)
	if err == nil {
		t.identities.Store(name, id)
	}
	return id, err
}

func (t *tree) identify(name string) (string, error) {
	info, err := t.lstat(name)
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		return dirMark, nil
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := t.links.ReadLink(name)
		return linkMark + target, err
	}
	if known, ok := t.fsys.(identified); ok && info.Mode().IsRegular() {
		return known.ObjectID(name)
	}
	f, err := t.fsys.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return "", err
	}
	if info.IsDir() {
		return "", &fs.PathError{Op: "read", Path: name, Err: errIsDir}
	}
	h := sha1cd.New()
	_, _ = fmt.Fprintf(h, "blob %d\x00", info.Size())
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
