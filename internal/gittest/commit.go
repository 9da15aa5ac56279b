package gittest

import (
	"fmt"
	"io"
	"sort"
	"strings"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// Commit creates a commit in the repository at dir and returns its name; no ref points to it. It has the
// files of the parent, if there is one, without the removed ones, and with those in put, by path.
func Commit(dir, parent string, put map[string]string, removed []string, when time.Time) (string, error) {
	repository, err := git.PlainOpen(dir)
	if err != nil {
		return "", fmt.Errorf("open %s: %w", dir, err)
	}
	files, commit := map[string]object.TreeEntry{}, newCommit("A change", when)
	if parent != "" {
		commit.ParentHashes = []plumbing.Hash{plumbing.NewHash(parent)}
		if files, err = filesOf(repository, commit.ParentHashes[0]); err != nil {
			return "", fmt.Errorf("read commit %s: %w", parent, err)
		}
	}
	for _, name := range removed {
		delete(files, name)
	}
	for name, text := range put {
		blob, err := writeBlob(repository.Storer, text)
		if err != nil {
			return "", fmt.Errorf("write %s: %w", name, err)
		}
		files[name] = object.TreeEntry{Mode: filemode.Regular, Hash: blob}
	}
	if commit.TreeHash, err = writeTree(repository.Storer, files); err != nil {
		return "", fmt.Errorf("write a tree: %w", err)
	}
	name, err := write(repository.Storer, commit)
	return name.String(), err
}

func newCommit(text string, when time.Time) *object.Commit {
	by := object.Signature{Name: "a", Email: "a@example.com", When: when}
	return &object.Commit{Author: by, Committer: by, Message: text}
}

// filesOf returns the files of a commit by path.
func filesOf(repository *git.Repository, name plumbing.Hash) (map[string]object.TreeEntry, error) {
	commit, err := repository.CommitObject(name)
	if err != nil {
		return nil, err
	}
	tree, err := commit.Tree()
	if err != nil {
		return nil, err
	}
	files, walker := map[string]object.TreeEntry{}, object.NewTreeWalker(tree, true, nil)
	defer walker.Close()
	for {
		path, entry, err := walker.Next()
		switch {
		case err == io.EOF:
			return files, nil
		case err != nil:
			return nil, err
		case entry.Mode != filemode.Dir:
			files[path] = entry
		}
	}
}

// writeTree writes the tree of files, by path.
func writeTree(to storer.EncodedObjectStorer, files map[string]object.TreeEntry) (plumbing.Hash, error) {
	tree, dirs := &object.Tree{}, map[string]map[string]object.TreeEntry{}
	for path, entry := range files {
		name, rest, isIn := strings.Cut(path, "/")
		if !isIn {
			entry.Name = name
			tree.Entries = append(tree.Entries, entry)
			continue
		}
		if dirs[name] == nil {
			dirs[name] = map[string]object.TreeEntry{}
		}
		dirs[name][rest] = entry
	}
	for name, inner := range dirs {
		hash, err := writeTree(to, inner)
		if err != nil {
			return hash, err
		}
		tree.Entries = append(tree.Entries, object.TreeEntry{Name: name, Mode: filemode.Dir, Hash: hash})
	}
	sort.Sort(object.TreeEntrySorter(tree.Entries))
	return write(to, tree)
}

func writeBlob(to storer.EncodedObjectStorer, text string) (plumbing.Hash, error) {
	blob := to.NewEncodedObject()
	blob.SetType(plumbing.BlobObject)
	w, err := blob.Writer()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	if _, err := io.WriteString(w, text); err != nil {
		return plumbing.ZeroHash, err
	}
	return to.SetEncodedObject(blob)
}

// write writes a commit or tree, unless it exists.
func write(to storer.EncodedObjectStorer, o interface {
	Encode(plumbing.EncodedObject) error
}) (plumbing.Hash, error) {
	encoded := to.NewEncodedObject()
	if err := o.Encode(encoded); err != nil {
		return plumbing.ZeroHash, err
	}
	return to.SetEncodedObject(encoded)
}
