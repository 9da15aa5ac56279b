package githubtest

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/preadmit/preadmit/internal/gittest"
)

// when returns the date of the last commit: a second after the previous one, so that object names
// are the same in every run, and unique.
func (r *repository) when() time.Time {
	return time.Date(2026, 1, 2, 3, 4, 5+r.commits, 0, time.UTC)
}

// commit creates a commit of its parent's files with changes; no branch moves.
func (r *repository) commit(parent string, files Files) (string, error) {
	if parent != "" {
		sha := r.commitOf("refs/heads/"+parent, parent)
		if sha == "" {
			return "", fmt.Errorf("commit to %s: no commit %s", r.full(), parent)
		}
		parent = sha
	}
	put, removed := maps.Clone(files), []string{}
	for name, text := range files {
		if text == Removed {
			removed = append(removed, name)
			delete(put, name)
		}
	}
	r.commits++
	sha, err := gittest.Commit(r.dir, parent, put, removed, r.when())
	if err != nil {
		return "", err
	}
	return r.addCommit(sha), nil
}

func (r *repository) setBranch(branch, sha string) error {
	if r.commitOf(sha) == "" {
		return fmt.Errorf("set the branch %s of %s: no commit %s", branch, r.full(), sha)
	}
	return r.set("refs/heads/"+branch, sha)
}

// Tip returns the commit of a branch, "" when it does not exist.
func (r *Repository) Tip(branch string) string {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	return r.repo.tip(branch)
}

// Commit creates a commit: the files of parent - a branch or an object name - with changes.
// No branch moves, and no webhook is sent.
func (r *Repository) Commit(parent string, files Files) (string, error) {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	return r.repo.commit(parent, files)
}

// Push commits changes to a branch and sends the event. A branch that does not exist is created
// from the default branch.
func (r *Repository) Push(branch string, files Files) (sha string, err error) {
	err = r.server.act(func() error {
		parent := r.repo.tip(branch)
		if parent == "" {
			parent = r.repo.tip(r.repo.DefaultBranch)
		}
		if sha, err = r.repo.commit(parent, files); err != nil {
			return err
		}
		return r.server.move(r.repo, branch, sha)
	})
	return sha, err
}

// ForcePush commits changes to parent, sets the branch to the commit, and sends the event.
func (r *Repository) ForcePush(branch, parent string, files Files) (sha string, err error) {
	err = r.server.act(func() error {
		if sha, err = r.repo.commit(parent, files); err != nil {
			return err
		}
		return r.server.move(r.repo, branch, sha)
	})
	return sha, err
}

// SetBranch sets a branch to any commit, and sends the event.
func (r *Repository) SetBranch(branch, sha string) error {
	return r.server.act(func() error { return r.server.move(r.repo, branch, sha) })
}

// DeleteBranch removes a branch, and sends the event.
func (r *Repository) DeleteBranch(branch string) error {
	return r.server.act(func() error {
		before := r.repo.tip(branch)
		if before == "" {
			return errors.New("delete the branch " + branch + ": there is none")
		}
		_, err := r.repo.git("update-ref", "-d", "refs/heads/"+branch)
		r.server.sendPush(r.repo, branch, before, noCommit)
		return err
	})
}

// noCommit is the object name that git uses for no commit.
const noCommit = "0000000000000000000000000000000000000000"

// move sets a branch to a commit, and updates the pull requests.
func (s *Server) move(r *repository, branch, sha string) error {
	before := r.tip(branch)
	if before == "" {
		before = noCommit
	}
	if err := r.setBranch(branch, sha); err != nil {
		return err
	}
	s.sendPush(r, branch, before, sha)
	for _, base := range s.repos {
		for _, p := range base.pulls {
			if err := s.follow(p, r, branch, before); err != nil {
				return err
			}
		}
	}
	return nil
}

// commitBody returns the JSON body of a commit.
func (s *Server) commitBody(r *repository, rev string) (map[string]any, error) {
	out, err := r.readObjects("log", "-1", "--format=%H%n%T%n%P%n%cI%n%s", rev)
	if err != nil {
		return nil, err
	}
	part := strings.SplitN(out, "\n", 5)
	if len(part) < 5 {
		return nil, fmt.Errorf("git log of %s says %q", rev, out)
	}
	parents := []any{}
	for sha := range strings.FieldsSeq(part[2]) {
		parents = append(parents, map[string]any{"sha": sha, "url": s.URL + "commits/" + sha, "html_url": s.WebURL + "/" + sha})
	}
	by := map[string]any{"name": "a", "email": "a@example.com", "date": part[3]}
	return map[string]any{
		"sha": part[0], "node_id": "C_1", "html_url": s.WebURL + "/" + r.full() + "/commit/" + part[0], "parents": parents,
		"commit": map[string]any{
			"tree": map[string]any{"sha": part[1]}, "message": part[4], "author": by, "committer": by, "comment_count": 0,
		},
		"author": s.userBody(r.Owner), "committer": s.userBody(r.Owner),
	}, nil
}
