package gittree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// blobCacheBytes limits the file contents that a repository caches in memory, in bytes.
const blobCacheBytes = 256 << 20

// Commit is a commit of a repository.
type Commit struct {
	repo   *Repository
	commit *object.Commit
}

// Hash returns the commit's object name: 40 lower-case hex digits.
func (c *Commit) Hash() string { return c.commit.Hash.String() }

// Parents returns the object names of the commit's parents, in order. They may be missing in the repository.
func (c *Commit) Parents() []string {
	var names []string
	for _, hash := range c.commit.ParentHashes {
		names = append(names, hash.String())
	}
	return names
}

// FS returns the commit's tree: read-only, not checked out, safe for concurrent use.
func (c *Commit) FS() fs.FS {
	t := &treeFS{repo: c.repo, root: c.commit.TreeHash}
	t.modules = newModules(t)
	return t
}

// directory is one decoded tree object.
type directory struct {
	entries map[string]object.TreeEntry
}

// directory loads a tree object.
func (r *Repository) directory(hash plumbing.Hash) (*directory, error) {
	if d, ok := r.trees.Load(hash); ok {
		return d.(*directory), nil
	}
	r.mu.Lock()
	tree, err := object.GetTree(r.store, hash)
	r.mu.Unlock()
	if err != nil {
		return nil, explainMissing("tree", hash, err)
	}
	d := &directory{entries: make(map[string]object.TreeEntry, len(tree.Entries))}
	var odd []object.TreeEntry
	for _, e := range tree.Entries {
		switch {
		case !utf8.ValidString(e.Name):
			odd = append(odd, e)
		case fs.ValidPath(e.Name) && e.Name != ".": // git does not check out other names
			d.entries[e.Name] = e
		}
	}
	for _, e := range odd {
		name := escapedName(e.Name)
		for _, taken := d.entries[name]; taken; _, taken = d.entries[name] {
			name = "_" + name
		}
		d.entries[name] = e
	}
	r.trees.Store(hash, d)
	return d, nil
}

// escapedName returns a name that is not valid UTF-8 in escaped form, because paths of fs.FS must be UTF-8. The file
// exists, and deployers of the directory apply it.
func escapedName(name string) string {
	quoted := strconv.Quote(name)
	return quoted[1 : len(quoted)-1]
}

// blob loads the content of a file. The result must not be modified.
func (r *Repository) blob(hash plumbing.Hash) ([]byte, error) {
	if data, ok := r.blobs.get(hash); ok {
		return data, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	data, err := r.readBlob(hash)
	if err != nil {
		return nil, explainMissing("blob", hash, err)
	}
	r.blobs.put(hash, data)
	return data, nil
}

func (r *Repository) readBlob(hash plumbing.Hash) ([]byte, error) {
	blob, err := object.GetBlob(r.store, hash)
	if err != nil {
		return nil, err
	}
	reader, err := blob.Reader()
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	data := make([]byte, 0, blob.Size)
	buffer := data[:cap(data)]
	if _, err := io.ReadFull(reader, buffer); err != nil {
		return nil, err
	}
	return buffer, nil
}

// size returns a file's length in bytes without loading it.
func (r *Repository) size(hash plumbing.Hash) (int64, error) {
	if data, ok := r.blobs.get(hash); ok {
		return int64(len(data)), nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n, err := r.store.EncodedObjectSize(hash)
	return n, explainMissing("blob", hash, err)
}

func explainMissing(what string, hash plumbing.Hash, err error) error {
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return fmt.Errorf("%s %s is not in the repository (a partial clone?); fetch it with `git fetch --refetch --filter=blob:limit=1g origin`", what, hash)
	}
	return err
}

// blobCache caches file contents up to a number of bytes. Others are read again each time. get is safe for concurrent
// use.
type blobCache struct {
	budget int64
	data   sync.Map // plumbing.Hash -> []byte
}

func (c *blobCache) get(hash plumbing.Hash) ([]byte, bool) {
	data, ok := c.data.Load(hash)
	if !ok {
		return nil, false
	}
	return data.([]byte), true
}

// put caches a content. It must not be called concurrently.
func (c *blobCache) put(hash plumbing.Hash, data []byte) {
	if int64(len(data)) > c.budget {
		return
	}
	if _, known := c.data.LoadOrStore(hash, data); !known {
		c.budget -= int64(len(data))
	}
}

// modeOf converts git's file mode.
func modeOf(m filemode.FileMode) fs.FileMode {
	switch m {
	case filemode.Dir:
		return fs.ModeDir | 0o555
	case filemode.Executable:
		return 0o555
	case filemode.Symlink:
		return fs.ModeSymlink | 0o777
	case filemode.Submodule:
		return fs.ModeIrregular
	}
	return 0o444
}
