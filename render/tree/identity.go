package tree

import (
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/pjbgf/sha1cd"
)

// contentNames is a file system with git's names of its files, without reading them, like a git tree.
type contentNames interface {
	// ObjectID returns the name of the blob of the file or symbolic link at a path, in hex. Symbolic links in the path
	// are not followed.
	ObjectID(name string) (string, error)
}

// IsIdentified reports whether the tree has the names of its files without reading them.
func (t *Tree) IsIdentified() bool {
	_, ok := t.Fsys.(contentNames)
	return ok
}

// LinkMark is the prefix of the identity of a symbolic link, which distinguishes it from a file with the same text.
const LinkMark = "symbolic link "

// dirMark is the identity of every directory.
const dirMark = "directory"

// listMark is the prefix of the identity of a listing.
const listMark = "listing "

// Listing returns the path under which traces record that the names at and below a directory were read, without the
// contents of files.
func Listing(dir string) string { return dir + "/" }

// IsMark reports whether an identity is not that of a file.
func IsMark(id string) bool {
	return id == dirMark || strings.HasPrefix(id, LinkMark) || strings.HasPrefix(id, listMark) || strings.HasPrefix(id, bytesMark)
}

// ObjectID returns git's name of a blob: the SHA-1 of its length and content. Blobs made for a collision get other
// names (sha1cd).
func ObjectID(data []byte) string {
	h := sha1cd.New()
	_, _ = fmt.Fprintf(h, "blob %d\x00", len(data)) // writing to a hash never fails
	_, _ = h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// Identity returns the identity of the content of a file, of the target of a symbolic link, of a directory, or of a
// Listing. The path must not contain other symbolic links. Limits do not apply, because nothing is kept.
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

// identityOf returns the identity of a file whose content was read. It fails if the file had another content before.
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

// copySize is the maximum size of buffers for hashing files, in bytes.
const copySize = 32 << 10

// identifyListing returns an identity of the names and types at and below a directory.
func (t *Tree) identifyListing(name string) (string, error) {
	h := sha1cd.New()
	err := fs.WalkDir(t.Fsys, strings.TrimSuffix(name, "/"), func(name string, entry fs.DirEntry, err error) error {
		if err != nil && entry == nil {
			return err
		}
		_, _ = fmt.Fprintf(h, "%d:%s%d", len(name), name, entry.Type()) // writing to a hash never fails
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
	// An *os.File would allocate a large buffer for every small file.
	if _, err := io.CopyBuffer(h, struct{ io.Reader }{f}, make([]byte, min(info.Size()+1, copySize))); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
