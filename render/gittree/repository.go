// Package gittree opens file trees for rendering: commits of a git repository
// straight from its object database, a work tree as `git add --all` would see
// it, and plain directories. Every tree is a read-only fs.FS that is safe for
// concurrent use and also implements fs.ReadDirFS, fs.ReadFileFS, fs.StatFS and
// fs.ReadLinkFS. Symbolic links are followed inside the tree only.
//
// No git program is run, and what is opened is not written to. Fetch gets commits
// from a server, into a repository of their own.
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

	// mu guards every use of store: go-git's storers are not safe for concurrent
	// reads. The caches below hold immutable values.
	mu    sync.Mutex
	trees map[plumbing.Hash]*directory
	blobs blobCache
}

// Open opens the repository that holds path: path or the nearest directory above
// it with a `.git` directory, a `.git` file (linked work trees, submodules), or a
// bare repository.
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
	st, err := openStore(loc)
	if err != nil {
		return nil, fmt.Errorf("open repository at %s: %w", path, err)
	}
	return &Repository{
		location: loc,
		prefix:   prefix(loc, abs),
		store:    st,
		trees:    make(map[plumbing.Hash]*directory),
		blobs:    blobCache{budget: blobCacheBytes},
	}, nil
}

// prefix is the slash path of abs inside the work tree; "." at its top, in a
// bare repository and inside a `.git` directory.
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

// Prefix is the slash path, inside the repository, of the path given to Open;
// "." at its top.
func (r *Repository) Prefix() string { return r.prefix }

// Root is the directory of the work tree, or of the repository itself when it is
// bare.
func (r *Repository) Root() string {
	if r.location.workTree != "" {
		return r.location.workTree
	}
	return r.location.gitDir
}

// Commit resolves a revision (a branch, a tag, a hash or its beginning, `HEAD~2`,
// `origin/main`, ...) to a commit. The error of a revision that is not there says
// how to fetch it.
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
	hash, err := resolveRevision(repo, rev)
	if err == nil {
		var c *object.Commit
		if c, err = object.GetCommit(r.store, *hash); err == nil {
			return c, nil
		}
	}
	if r.empty(repo) {
		return nil, fmt.Errorf("resolve revision %q: the repository has no commits yet", rev)
	}
	if missing(err) {
		return nil, &MissingRevisionError{Revision: rev, Shallow: r.shallow()}
	}
	return nil, fmt.Errorf("resolve revision %q: %w", rev, err)
}

// resolveRevision shields callers from revisions that go-git's parser accepts but
// its resolver does not survive, such as "^".
func resolveRevision(repo *git.Repository, rev string) (hash *plumbing.Hash, err error) {
	defer func() {
		if p := recover(); p != nil {
			hash, err = nil, errors.New("not a valid revision")
		}
	}()
	return repo.ResolveRevision(plumbing.Revision(rev))
}

// empty tells whether nothing was ever committed: HEAD names a branch that does
// not exist and there is no other reference.
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
