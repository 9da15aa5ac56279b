package gittest

import (
	"fmt"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
)

// Merge merges two commits of the repository at dir, and returns the name of the merge commit; no ref
// points to it. A conflict is an error.
func Merge(dir, base, head, text string, when time.Time) (string, error) {
	tree, err := Run(dir, "", nil, "merge-tree", "--write-tree", "--no-messages", base, head)
	if err != nil {
		return "", err
	}
	repository, err := git.PlainOpen(dir)
	if err != nil {
		return "", fmt.Errorf("open %s: %w", dir, err)
	}
	merge := newCommit(text+"\n", when)
	merge.TreeHash = plumbing.NewHash(tree)
	merge.ParentHashes = []plumbing.Hash{plumbing.NewHash(base), plumbing.NewHash(head)}
	name, err := write(repository.Storer, merge)
	return name.String(), err
}
