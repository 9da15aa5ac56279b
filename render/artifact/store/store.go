package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/preadmit/preadmit/render/artifact"
)

// Store stores contents in a directory. Several processes may use it. It is safe for concurrent use.
type Store struct{ dir string }

// ErrNotStored is the error of a content that is not in the store.
var ErrNotStored = errors.New("it is not in the cache")

// TooLargeError is the error of a content that is larger than allowed.
type TooLargeError struct{ Most int64 }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("it has more than %d bytes", e.Most)
}

// Open opens the store in a directory, which is created when something is first stored.
func Open(dir string) *Store { return &Store{dir} }

// Dir returns the directory of the store.
func (s *Store) Dir() string { return s.dir }

// path returns the path of the content with a digest.
func (s *Store) path(digest string) string {
	name := strings.TrimPrefix(digest, "sha256:")
	return filepath.Join(s.dir, name[:2], name)
}

// tempPrefix is the prefix of the names of files that are being written.
const tempPrefix = "new-"

// Put stores what is read, at most most bytes, and returns its digest and size.
func (s *Store) Put(r io.Reader, most int64) (digest string, size int64, err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return "", 0, err
	}
	f, err := os.CreateTemp(s.dir, tempPrefix+"*") // with mode 0600
	if err != nil {
		return "", 0, err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	h := sha256.New()
	size, err = io.Copy(io.MultiWriter(f, h), io.LimitReader(r, most+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", 0, err
	}
	if size > most {
		return "", 0, &TooLargeError{most}
	}
	digest = "sha256:" + hex.EncodeToString(h.Sum(nil))
	name := s.path(digest)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return "", 0, err
	}
	return digest, size, os.Rename(f.Name(), name)
}

// Lend adds a content to another store, if possible as a hard link. It is verified when it is read from there.
func (s *Store) Lend(digest string, to *Store) error {
	f, size, err := s.open(digest)
	if err != nil {
		return err
	}
	defer f.Close()
	name := to.path(digest)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	if err := os.Link(f.Name(), name); err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	_, _, err = to.Put(f, size) // not all file systems support hard links
	return err
}

// Scratch creates an empty directory in the store for temporary files. The caller removes it.
func (s *Store) Scratch() (string, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return "", err
	}
	return os.MkdirTemp(s.dir, tempPrefix+"*")
}

// Has reports whether a content is stored and undamaged.
func (s *Store) Has(digest string) bool {
	f, _, err := s.open(digest)
	if err != nil {
		return false
	}
	defer f.Close()
	return verify(f, digest, io.Discard) == nil
}

// Bytes returns a content of at most most bytes.
func (s *Store) Bytes(digest string, most int64) ([]byte, error) {
	f, size, err := s.open(digest)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > most {
		return nil, &TooLargeError{most}
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != strings.TrimPrefix(digest, "sha256:") {
		return nil, forged(digest)
	}
	return data, nil
}

// open opens the file of a content, and marks it as used.
func (s *Store) open(digest string) (*os.File, int64, error) {
	if !artifact.IsDigest(digest) {
		return nil, 0, fmt.Errorf("%q is no digest", digest)
	}
	name := s.path(digest)
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, ErrNotStored
	case err != nil:
		return nil, 0, err
	case !info.Mode().IsRegular():
		return nil, 0, fmt.Errorf("%s is no file: %w", name, ErrNotStored)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	if now := time.Now(); now.Sub(info.ModTime()) > time.Hour {
		_ = os.Chtimes(name, now, now) // in a read-only cache, files just age
	}
	return f, info.Size(), nil
}

// verify reads a content to its end, and compares it with its digest.
func verify(r io.Reader, digest string, also io.Writer) error {
	h := sha256.New()
	if _, err := io.Copy(io.MultiWriter(h, also), r); err != nil {
		return err
	}
	if hex.EncodeToString(h.Sum(nil)) != strings.TrimPrefix(digest, "sha256:") {
		return forged(digest)
	}
	return nil
}

func forged(digest string) error {
	return fmt.Errorf("the file of %s in the cache has another content: %w", digest, ErrNotStored)
}

// stored is a file of the store.
type stored struct {
	name string
	size int64
	used time.Time
}

// Trim deletes the least recently used contents, except those to keep, until all together have at most most bytes.
func (s *Store) Trim(most int64, keep []string) error {
	files, total, err := s.list()
	if err != nil {
		return fmt.Errorf("trim the cache of artifacts: %w", err)
	}
	slices.SortFunc(files, func(a, b stored) int { return a.used.Compare(b.used) })
	for _, f := range files {
		if total <= most {
			break
		}
		if slices.Contains(keep, "sha256:"+filepath.Base(f.name)) {
			continue
		}
		if err := os.Remove(f.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("trim the cache of artifacts: %w", err)
		}
		total -= f.size
	}
	return nil
}

// list returns the contents, and removes temporary files of processes that were killed.
func (s *Store) list() (files []stored, total int64, err error) {
	err = filepath.WalkDir(s.dir, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() && !strings.HasPrefix(d.Name(), tempPrefix) {
			return err
		}
		info, err := d.Info()
		switch {
		case err != nil: // was just deleted
		case d.IsDir():
			if time.Since(info.ModTime()) > time.Hour {
				_ = os.RemoveAll(name)
			}
			return fs.SkipDir
		case artifact.IsDigest("sha256:" + d.Name()):
			files = append(files, stored{name, info.Size(), info.ModTime()})
			total += info.Size()
		case strings.HasPrefix(d.Name(), tempPrefix) && time.Since(info.ModTime()) > time.Hour:
			_ = os.Remove(name)
		}
		return nil
	})
	return files, total, err
}
