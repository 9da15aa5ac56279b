package githubtest

import (
	"errors"
	"fmt"
)

// MergePull merges a pull request: its base moves to a merge commit, and it is closed.
// Both are told.
func (r *Repository) MergePull(number int, by string) error {
	return r.server.act(func() error {
		p := r.repo.pull(number)
		if p == nil || p.state != "open" {
			return fmt.Errorf("merge pull request %d: there is none that is open", number)
		}
		sha, err := r.repo.mergeCommit(p.base, p.headSHA, fmt.Sprintf("Merge pull request #%d", number))
		if err != nil {
			return err
		}
		if sha == "" {
			return errors.New("merge a pull request: it conflicts with its base")
		}
		p.state, p.merged, p.mergeSHA = "closed", true, sha
		r.server.tellPull(p, "closed", by, nil)
		return r.server.move(r.repo, p.base, sha)
	})
}
