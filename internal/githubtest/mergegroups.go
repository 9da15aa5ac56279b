package githubtest

import "fmt"

// MergeGroup is a group of a merge queue.
type MergeGroup struct {
	HeadSHA, HeadRef, BaseSHA, BaseRef string
}

// AddMergeGroup puts a pull request into the merge queue: a merge commit on a branch of
// the queue's own, for which it asks for checks.
func (r *Repository) AddMergeGroup(number int) (g MergeGroup, err error) {
	err = r.server.act(func() error {
		p := r.repo.pull(number)
		if p == nil {
			return fmt.Errorf("queue pull request %d: there is none", number)
		}
		base := r.repo.tip(p.base)
		sha, err := r.repo.mergeCommit(p.base, p.headSHA, fmt.Sprintf("Merge pull request #%d", number))
		if err != nil || sha == "" {
			return fmt.Errorf("queue pull request %d: it does not merge: %w", number, err)
		}
		g = MergeGroup{sha, fmt.Sprintf("refs/heads/gh-readonly-queue/%s/pr-%d-%s", p.base, number, base), base, "refs/heads/" + p.base}
		if _, err := r.repo.git("update-ref", g.HeadRef, sha); err != nil {
			return err
		}
		r.server.tellGroup(r.repo, g, "checks_requested", nil)
		return nil
	})
	return g, err
}

// DestroyMergeGroup takes a group from the queue: for "merged", "invalidated" or
// "dequeued".
func (r *Repository) DestroyMergeGroup(g MergeGroup, reason string) error {
	return r.server.act(func() error {
		_, err := r.repo.git("update-ref", "-d", g.HeadRef)
		r.server.tellGroup(r.repo, g, "destroyed", map[string]any{"reason": reason})
		return err
	})
}

// tellGroup sends merge_group.
func (s *Server) tellGroup(r *repository, g MergeGroup, action string, more map[string]any) {
	payload := map[string]any{"merge_group": map[string]any{
		"head_sha": g.HeadSHA, "head_ref": g.HeadRef, "base_sha": g.BaseSHA, "base_ref": g.BaseRef, "head_commit": s.headCommit(r, g.HeadSHA),
	}}
	for name, value := range more {
		payload[name] = value
	}
	s.tell(r, "merge_group", action, "github-merge-queue[bot]", payload, nil)
}
