package store

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render/artifact"
)

// Links decides whether the symbolic links of an archive are kept.
type Links bool

const (
	// DropLinks drops them, as deployers do for archives that are not git trees.
	DropLinks Links = false
	// KeepLinks keeps those that do not lead out of the archive, for archives of git trees.
	KeepLinks Links = true
)

// Tree opens the content with a digest as a tar archive, compressed or not. The files of an uncompressed archive are
// read when they are needed.
func (s *Store) Tree(digest string, links Links, limits Limits) (fs.FS, error) {
	f, _, err := s.open(digest)
	if err != nil {
		return nil, err
	}
	limits = limits.withDefaults()
	head, err := bufio.NewReader(f).Peek(2)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(refuse("it is empty or cannot be read"), f.Close())
	}
	if bytes.Equal(head, []byte{0x1f, 0x8b}) {
		defer f.Close()
		return compressed(f, digest, links, limits)
	}
	tree, err := plainTar(f, digest, links, limits)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return tree, nil
}

// compressed opens a compressed archive by reading it into memory.
func compressed(f *os.File, digest string, links Links, limits Limits) (fs.FS, error) {
	h := sha256.New()
	both := io.TeeReader(f, h)
	unpacked, err := gzip.NewReader(both)
	if err != nil {
		return nil, refuse("%v", err)
	}
	limits.Bytes = min(limits.Bytes, limits.Packed)
	r := &indexer{tree: newTree(nil), links: links, limits: limits, in: &counter{r: unpacked, most: 2*limits.Bytes + 1<<20}}
	if err := r.read(); err != nil {
		return nil, err
	}
	if _, err := io.Copy(io.Discard, both); err != nil {
		return nil, err
	}
	if "sha256:"+fmt.Sprintf("%x", h.Sum(nil)) != digest {
		return nil, forged(digest)
	}
	return r.tree.finish()
}

// plainTar opens an uncompressed archive. Its files are read from it when they are requested, and compared with their
// checksums from the time when the archive was verified.
func plainTar(f *os.File, digest string, links Links, limits Limits) (fs.FS, error) {
	h := sha256.New()
	both := io.TeeReader(bufio.NewReaderSize(f, 1<<16), h)
	r := &indexer{tree: newTree(f), links: links, limits: limits, in: &counter{r: both, most: 2*limits.Bytes + 1<<20}}
	if err := r.read(); err != nil {
		return nil, err
	}
	if _, err := io.Copy(io.Discard, both); err != nil {
		return nil, err
	}
	if "sha256:"+fmt.Sprintf("%x", h.Sum(nil)) != digest {
		return nil, forged(digest)
	}
	return r.tree.finish()
}

// counter counts the bytes read, and returns an error above a limit.
type counter struct {
	r       io.Reader
	n, most int64
}

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.n += int64(n); c.n > c.most {
		return n, refuse("it unpacks to more than %d bytes", c.most)
	}
	return n, err
}

// indexer reads the entries of an archive into a tree.
type indexer struct {
	tree    *archiveFS
	links   Links
	limits  Limits
	in      *counter
	entries int
	bytes   int64
}

func (r *indexer) read() error {
	archive := tar.NewReader(r.in)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if refused := new(ArchiveError); errors.As(err, &refused) {
			return refused
		}
		if err != nil {
			return refuse("it is no tar archive: %v", err)
		}
		if r.entries++; r.entries > r.limits.Entries {
			return refuse("it has more than %d entries", r.limits.Entries)
		}
		if err := r.entry(header, archive); err != nil {
			return err
		}
	}
}

// entry adds an entry to the tree.
func (r *indexer) entry(header *tar.Header, content io.Reader) error {
	if header.Typeflag == tar.TypeXGlobalHeader {
		return nil
	}
	name, err := entryName(header.Name)
	if err != nil || name == "." {
		return err
	}
	switch header.Typeflag {
	case tar.TypeDir:
		if commit := header.PAXRecords[recordCommit]; commit != "" && r.links == KeepLinks {
			r.tree.modules = append(r.tree.modules, artifact.Submodule{Path: name, Commit: commit, URL: header.PAXRecords[recordURL]})
		}
		return r.tree.add(name, &node{mode: fs.ModeDir | 0o755})
	case tar.TypeReg:
		return r.file(name, header, content)
	case tar.TypeSymlink:
		if r.links == DropLinks || !inside(name, header.Linkname) {
			return nil
		}
		return r.tree.add(name, &node{mode: fs.ModeSymlink | 0o777, target: header.Linkname})
	}
	return nil // devices, pipes and hard links are dropped
}

// entryName returns the path of an entry in the tree.
func entryName(name string) (string, error) {
	if len(name) > maxName {
		return "", refuse("the name %.60q... has more than %d bytes", name, maxName)
	}
	if strings.HasPrefix(name, "/") || strings.ContainsAny(name, "\\\x00") {
		return "", refuse("the name %q is no relative path", name)
	}
	if slices.Contains(strings.Split(name, "/"), "..") {
		return "", refuse("the name %q leads out of it", name)
	}
	clean := path.Clean(name)
	if !fs.ValidPath(clean) {
		return "", refuse("%q is no name of a file", name)
	}
	if strings.Count(clean, "/") >= maxDepth {
		return "", refuse("the name %.60q... has more than %d directories", clean, maxDepth)
	}
	return clean, nil
}

// inside reports whether the target of a link is inside the tree.
func inside(name, target string) bool {
	if target == "" || path.IsAbs(target) || strings.ContainsAny(target, "\\\x00") || len(target) > maxName {
		return false
	}
	full := path.Join(path.Dir(name), target)
	return full != ".." && !strings.HasPrefix(full, "../")
}

// file adds a file to the tree.
func (r *indexer) file(name string, header *tar.Header, content io.Reader) error {
	if header.Size > r.limits.FileBytes {
		return refuse("%s has more than %d bytes", name, r.limits.FileBytes)
	}
	if r.bytes += header.Size; r.bytes > r.limits.Bytes {
		return refuse("its files have more than %d bytes", r.limits.Bytes)
	}
	n := &node{mode: 0o644, size: header.Size, file: r.tree.file, at: r.in.n}
	var kept bytes.Buffer
	h := sha256.New()
	into := io.Writer(h)
	if r.tree.file == nil {
		into = &kept
	}
	size, err := io.Copy(into, content)
	if refused := new(ArchiveError); errors.As(err, &refused) {
		return refused
	}
	if err != nil || size != header.Size {
		return refuse("%s is cut off", name)
	}
	if r.tree.file == nil {
		n.data = kept.Bytes()
	} else {
		copy(n.sum[:], h.Sum(nil))
	}
	return r.tree.add(name, n)
}
