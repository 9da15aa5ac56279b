package tree

import (
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/pjbgf/sha1cd"
)

// contentNames is a file system that knows the git object names of its files
// without reading them, as a git tree does.
type contentNames interface {
	// ObjectID is the name of the blob of the file or symbolic link at a path, in
	// hex. Symbolic links on the way are not followed.
	ObjectID(name string) (string, error)
}

// IsIdentified reports whether the tree knows the names of its files without reading them.
func (t *Tree) IsIdentified() bool {
	_, ok := t.Fsys.(contentNames)
	return ok
}

// LinkMark distinguishes the identity of a symbolic link from that of a file that
// holds the same text.
const LinkMark = "symbolic link "

// dirMark is the identity of a directory, whatever is in it.
const dirMark = "directory"

// listMark distinguishes the identity of a listing.
const listMark = "listing "

// Listing is the path by which traces note that the names of what is at and below a
// directory were looked at, whatever the files hold.
func Listing(dir string) string { return dir + "/" }

// IsMark reports whether an identity is that of something that is no file.
func IsMark(id string) bool {
	return id == dirMark || strings.HasPrefix(id, LinkMark) || strings.HasPrefix(id, listMark) || strings.HasPrefix(id, bytesMark)
}

// ObjectID is git's name of a blob: SHA-1 over its length and content. Blobs
// that were made to collide get names of their own (sha1cd).
func ObjectID(data []byte) string {
	h := sha1cd.New()
	_, _ = fmt.Fprintf(h, "blob %d\x00", len(data)) // a hash does not fail to be written to
	_, _ = h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// Identity identifies the content of the file, the target of the symbolic link or the
// directory at a path without symbolic links before it, or a Listing. Limits do not apply:
// nothing is kept.
func (t *Tree) Identity(name string) (string, error) {
	if id, ok := t.identities.Load(name); ok {
		return id.(string), nil
	}
	identify := t.identify
	if strings.HasPrefix(name, bytesPrefix) {
		identify = t.identifyBytes
	} else if strings.HasSuffix(name, "/") {
		identify = t.identifyListing
	}
	id, err := identify(name)
	if err == nil {
		t.identities.Store(name, id)
	}
	return id, err
}

// identityOf returns the identity of a file whose content was read. It fails when the file
// had another content before.
func (t *Tree) identityOf(real string, data []byte) (string, error) {
	if t.IsIdentified() {
		return t.Identity(real)
	}
	id := t.small.identityOf(real)
	if id == "" {
		id = ObjectID(data)
	}
	if before, known := t.identities.LoadOrStore(real, id); known && before != id {
		return "", fmt.Errorf("%s was changed while it was read", real)
	}
	return id, nil
}

// copySize is the size in bytes of the largest buffer by which files are read to be hashed.
const copySize = 32 << 10

// identifyListing identifies the names of what is at and below a directory, and what each is.
func (t *Tree) identifyListing(name string) (string, error) {
	h := sha1cd.New()
	err := fs.WalkDir(t.Fsys, strings.TrimSuffix(name, "/"), func(name string, entry fs.DirEntry, err error) error {
		if err != nil && entry == nil {
			return err
		}
		_, _ = fmt.Fprintf(h, "%d:%s%d", len(name), name, entry.Type()) // a hash does not fail to be written to
		return nil
	})
	return listMark + hex.EncodeToString(h.Sum(nil)), err
}

func (t *Tree) identify(name string) (string, error) {
	info, err := t.Lstat(name)
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		return dirMark, nil
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := t.Links.ReadLink(name)
		return LinkMark + target, err
	}
	if known, ok := t.Fsys.(contentNames); ok && info.Mode().IsRegular() {
		return known.ObjectID(name)
	}
	f, err := t.Fsys.Open(name)
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
	// An *os.File would take a large buffer of its own for every small file.
	if _, err := io.CopyBuffer(h, struct{ io.Reader }{f}, make([]byte, min(info.Size()+1, copySize))); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
