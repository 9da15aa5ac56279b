package hostile

import (
	"path/filepath"
	"time"

	"github.com/preadmit/preadmit/internal/gittest"
)

// Tree writes the files of a commit.
type Tree = gittest.Import

// Pull is a pull request in a repository.
type Pull struct {
	// Dir is a bare git repository with the branches main and pull.
	Dir string
	// Base and Head are the names of commits.
	Base, Head string
}

// Make creates the repository of a case in a directory that does not exist yet. It runs git.
func (c *Case) Make(dir string, canary *Canary) (*Pull, error) {
	dir = filepath.Clean(dir)
	if err := gittest.InitBare(dir, "main"); err != nil {
		return nil, err
	}
	names, err := gittest.Write(dir, func(t *Tree) {
		when := time.Unix(1700000000, 0)
		main := t.Commit("refs/heads/main", when)
		base(t)
		pull := t.Commit("refs/heads/pull", when, main)
		c.head(t, canary)
		t.Print(main, pull)
	})
	if err != nil {
		return nil, err
	}
	return &Pull{Dir: dir, Base: names[0], Head: names[1]}, nil
}
