package action

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/render/tree/gittree"
	"github.com/preadmit/preadmit/report/github"
)

// commitSource gets commits from the checkout if it has them completely, else from the
// server.
type commitSource struct {
	local  *gittree.Repository // nil without a complete checkout
	remote gittree.Remote
	// fetched and history are the directories for commits from the server. sent is the
	// repository in fetched, nil until something is fetched.
	fetched, history string
	sent             *gittree.Repository
	// under is the directory to judge, from the root of the repository.
	under string
	refs  map[string]string // the references of the server, nil until requested
}

// newCommitSource returns a source for the checkout that contains path. Fetched commits are
// stored in dir.
func newCommitSource(r *runner, path, dir string) (*commitSource, error) {
	s := &commitSource{
		remote:  gittree.Remote{URL: r.repositoryURL(), Token: r.token},
		fetched: filepath.Join(dir, "fetched"), history: filepath.Join(dir, "history"),
	}
	local, err := gittree.Open(path)
	switch {
	case err == nil:
		s.under = local.Prefix()
		if !local.Partial() {
			s.local = local
		}
		return s, nil
	case !errors.Is(err, gittree.ErrNotRepository) && !errors.Is(err, os.ErrNotExist):
		return nil, err
	}
	// There is no checkout: PATH is below the workspace, where a checkout would be.
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", path, err)
	}
	under, err := filepath.Rel(r.workspace, abs)
	if err != nil || !filepath.IsLocal(under) {
		return nil, cli.Usagef("PATH: %s is not inside the workspace %s", path, r.workspace)
	}
	s.under = filepath.ToSlash(under)
	return s, nil
}

// close removes the fetched commits.
func (s *commitSource) close() {
	_ = os.RemoveAll(s.fetched) // an error does not matter: it is in a temporary directory
	_ = os.RemoveAll(s.history)
}

// commit returns the commit with a full object name, which may also be that of an annotated
// tag. The name is never resolved as a branch or another revision, because a pull request
// can choose such names.
func (s *commitSource) commit(ctx context.Context, hash string) (*gittree.Commit, error) {
	if !objectName.MatchString(hash) {
		return nil, fmt.Errorf("get the commit %q: that is no full object name", hash)
	}
	for _, have := range []*gittree.Repository{s.local, s.sent} {
		if have != nil {
			if c, err := have.Commit(hash); err == nil {
				return c, nil
			}
		}
	}
	sent, err := gittree.Fetch(ctx, s.fetched, s.remote, hash)
	if err != nil {
		return nil, fmt.Errorf("get the commit %s: %w", hash, err)
	}
	s.sent = sent
	return sent.Commit(hash)
}

// mergeBase returns the object name of the best common ancestor of two commits. If the
// history of the checkout does not contain it, it is fetched from the server.
func (s *commitSource) mergeBase(ctx context.Context, a, b string) (string, error) {
	if s.local != nil {
		if hash, err := mergeBaseIn(s.local, a, b); err == nil {
			return hash, nil
		}
	}
	history, err := gittree.FetchHistory(ctx, s.history, s.remote, a, b)
	if err != nil {
		return "", fmt.Errorf("find the merge base of %s and %s: %w; "+
			"with actions/checkout and `fetch-depth: 0` nothing has to be fetched", a, b, err)
	}
	return mergeBaseIn(history, a, b)
}

func mergeBaseIn(r *gittree.Repository, a, b string) (string, error) {
	first, err := r.Commit(a)
	if err != nil {
		return "", err
	}
	second, err := r.Commit(b)
	if err != nil {
		return "", err
	}
	base, err := r.MergeBase(first, second)
	if err != nil {
		return "", err
	}
	return base.Hash(), nil
}

// objectName matches the full object name of a commit.
var objectName = regexp.MustCompile(`^[0-9a-f]{40}$`)

// resolve returns the object name of a branch or tag of the server, or of any revision of
// the checkout.
func (s *commitSource) resolve(ctx context.Context, rev string) (string, error) {
	if objectName.MatchString(rev) {
		return rev, nil
	}
	err := s.loadRefs(ctx)
	branch := strings.TrimPrefix(rev, "origin/")
	for _, name := range []string{rev, "refs/heads/" + branch, "refs/tags/" + rev} {
		if hash := s.refs[name]; hash != "" {
			return hash, nil
		}
	}
	if s.local != nil {
		c, local := s.local.Commit(rev)
		if local == nil {
			return c.Hash(), nil
		}
		err = errors.Join(err, local)
	}
	if err == nil {
		err = fmt.Errorf("%s has no branch or tag of this name", s.remote.URL)
	}
	return "", cli.Usagef("base %s: %w", rev, err)
}

func (s *commitSource) loadRefs(ctx context.Context) (err error) {
	if s.refs == nil {
		s.refs, err = s.remote.References(ctx)
	}
	return err
}

// pullWithHead returns the number of the pull request whose head is a commit: the highest if
// there are several.
func (s *commitSource) pullWithHead(ctx context.Context, sha string) (int, error) {
	if err := s.loadRefs(ctx); err != nil {
		return 0, err
	}
	number := github.PullWithHead(s.refs, sha)
	if number == 0 {
		return 0, fmt.Errorf("no pull request of %s has the head %s any more", s.remote.URL, sha)
	}
	return number, nil
}
