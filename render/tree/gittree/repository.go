// Package gittree opens file trees for rendering: commits of a git repository directly from its object database, a work
// tree as `git add --all` would see it, and plain directories. Every tree is a read-only fs.FS that is safe for
// concurrent use and also implements fs.ReadDirFS, fs.ReadFileFS, fs.StatFS and fs.ReadLinkFS. Symbolic links must not
// leave the tree.
//
// No git program is run, and opened repositories are not written to. Fetch fetches commits from a server into a
// repository of its own.
package gittree

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	git "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Repository is an opened git repository. It is safe for concurrent use.
type Repository struct {
	location location
	prefix   string
	store    *store

	// mu guards every use of store: go-git's storers are not safe for concurrent reads. The caches below hold immutable
	// values and are read without a lock.
	mu    sync.Mutex
	trees sync.Map // plumbing.Hash -> *directory
	blobs blobCache
}

// Open opens the repository that contains path: path or the nearest directory above it with a `.git` directory or a
// `.git` file (linked work trees, submodules). A bare repository is opened by its own path, and only outside of work
// trees: inside one, it may be committed content.
func Open(path string) (*Repository, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open repository at %s: %w", path, err)
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return nil, fmt.Errorf("open repository at %s: %w", path, err)
	}
	loc, err := locate(abs)
	if err != nil {
		return nil, fmt.Errorf("open repository at %s: %w", path, err)
	}
	r, err := openAt(loc, abs)
	if err != nil {
		return nil, fmt.Errorf("open repository at %s: %w", path, err)
	}
	return r, nil
}

// openAt opens the repository at a location. abs is a path in it.
func openAt(loc location, abs string) (*Repository, error) {
	st, err := openStore(loc)
	if err != nil {
		return nil, err
	}
	return &Repository{
		location: loc,
		prefix:   prefix(loc, abs),
		store:    st,
		blobs:    blobCache{budget: blobCacheBytes},
	}, nil
}

// prefix returns the slash path of abs inside the work tree: "." at its top, in a bare repository and inside a `.git`
// directory.
func prefix(loc location, abs string) string {
	if loc.workTree == "" {
		return "."
	}
	rel, err := filepath.Rel(loc.workTree, abs)
	if err != nil || !filepath.IsLocal(rel) {
		return "."
	}
	return filepath.ToSlash(rel)
}

// Prefix returns the slash path, inside the repository, of the path given to Open; "." at its top.
func (r *Repository) Prefix() string { return r.prefix }

// Root returns the directory of the work tree, or of the repository itself if it is bare.
func (r *Repository) Root() string {
	if r.location.workTree != "" {
		return r.location.workTree
	}
	return r.location.gitDir
}

// Commit resolves a revision (a branch, a tag, a hash or its beginning, `HEAD~2`, `origin/main`, ...) to a commit. The
// error of a missing revision says how to fetch it. Other syntax of git, such as `main@{1}` and `main:path`, is an
// error. 40 hex digits are always the name of an object, either a commit or a tag of one, even if a reference has that
// name.
func (r *Repository) Commit(rev string) (*Commit, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, err := r.resolve(rev)
	if err != nil {
		return nil, err
	}
	return &Commit{repo: r, commit: c}, nil
}

func (r *Repository) resolve(rev string) (*object.Commit, error) {
	repo, err := git.Open(r.store, nil)
	if err != nil {
		return nil, fmt.Errorf("resolve revision %q: %w", rev, explainExtension(err))
	}
	c, err := r.find(rev)
	if err == nil {
		return c, nil
	}
	if r.empty(repo) {
		return nil, fmt.Errorf("resolve revision %q: the repository has no commits yet", rev)
	}
	if missing(err) {
		if branch := r.unborn(rev); branch != "" {
			return nil, fmt.Errorf("resolve revision %q: HEAD is the branch %s, which has no commit: check out one that has", rev, branch)
		}
		return nil, r.missingRevision(rev)
	}
	return nil, fmt.Errorf("resolve revision %q: %w", rev, err)
}

// named returns the commit with an object name, or the commit of the tag object with that name. It fails if the stored
// object has another name.
func (r *Repository) named(name plumbing.Hash) (*object.Commit, error) {
	for {
		found, err := r.store.EncodedObject(plumbing.AnyObject, name)
		if err != nil {
			return nil, err
		}
		if found.Hash() != name {
			return nil, fmt.Errorf("the object at %s is %s", name, found.Hash())
		}
		if found.Type() != plumbing.TagObject {
			return object.GetCommit(r.store, name)
		}
		tag, err := object.GetTag(r.store, name)
		if err != nil {
			return nil, err
		}
		name = tag.Target
	}
}

// empty reports whether the repository has no commits: HEAD names a branch that does not exist, and there are no other
// references.
func (r *Repository) empty(repo *git.Repository) bool {
	if _, err := repo.Head(); err == nil {
		return false
	}
	refs, err := repo.References()
	if err != nil {
		return false
	}
	defer refs.Close()
	found := false
	_ = refs.ForEach(func(ref *plumbing.Reference) error {
		found = found || ref.Type() == plumbing.HashReference
		return nil
	})
	return !found
}

func (r *Repository) shallow() bool {
	hashes, err := r.store.Shallow()
	return err == nil && len(hashes) > 0
}

func missing(err error) bool {
	return errors.Is(err, plumbing.ErrReferenceNotFound) || errors.Is(err, plumbing.ErrObjectNotFound) ||
		errors.Is(err, os.ErrNotExist)
}
