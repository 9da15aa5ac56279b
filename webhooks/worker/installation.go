package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"

	gogithub "github.com/google/go-github/v62/github"

	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/app"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// installation enqueues the open pull requests of repositories that were added.
func (t *task) installation(ctx context.Context) error {
	t.w.App.Forget(t.job.Installation) // its cached tokens have the previous repositories and permissions
	all, err := t.w.App.Repositories(ctx, t.job.Installation)
	if errors.Is(err, app.ErrGone) || errors.Is(err, app.ErrSuspended) {
		return nil // another event reports that
	}
	if err != nil {
		return err
	}
	for _, r := range all {
		if r.GetArchived() || r.GetDisabled() || len(t.job.Repositories) > 0 && !slices.Contains(t.job.Repositories, r.GetID()) {
			continue
		}
		if err := t.enqueueOpen(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// enqueueOpen enqueues the open pull requests of a repository, and replaces jobs that they
// already have.
func (t *task) enqueueOpen(ctx context.Context, r *gogithub.Repository) error {
	client, err := t.w.App.Installation(ctx, t.job.Installation)
	if err != nil {
		return err
	}
	owner, name := r.GetOwner().GetLogin(), r.GetName()
	err = eachPull(func(page gogithub.ListOptions) ([]*gogithub.PullRequest, *gogithub.Response, error) {
		list, resp, err := client.PullRequests.List(ctx, owner, name, &gogithub.PullRequestListOptions{State: "open", ListOptions: page})
		return list, resp, github.Explain(fmt.Sprintf("list the open pull requests of %s/%s", owner, name), "pull-requests: read", err)
	}, func(pr *gogithub.PullRequest) error {
		if pr.GetDraft() {
			return nil
		}
		_, _, err := t.w.enqueue(ctx, queue.Job{
			Kind: queue.KindPull, Installation: t.job.Installation, Repository: r.GetID(), Owner: owner, Repo: name,
			Pull: pr.GetNumber(), Head: pr.GetHead().GetSHA(), Base: pr.GetBase().GetSHA(), Reason: t.job.Reason,
		})
		return err
	})
	if gone(err) || degrades(err) {
		t.log.Info("open pull requests are not judged", "repository", r.GetID(), "error", err)
		return nil
	}
	return err
}

// forget removes the data of an installation or of repositories that were removed. A delivery may
// be late, or redelivered after they were added again, so the list of those that are left is requested
// from GitHub.
// The data of a suspended installation stays, since the suspension may end.
func (t *task) forget(ctx context.Context) error {
	t.w.App.Forget(t.job.Installation)
	present, err := t.w.App.Repositories(ctx, t.job.Installation)
	switch {
	case errors.Is(err, app.ErrSuspended):
		return nil
	case errors.Is(err, app.ErrGone):
		return t.w.Queue.Forget(ctx, t.job.Installation, nil)
	case err != nil:
		return err
	}
	went := slices.DeleteFunc(slices.Clone(t.job.Repositories), func(id int64) bool {
		return slices.ContainsFunc(present, func(r *gogithub.Repository) bool { return r.GetID() == id })
	})
	if len(went) == 0 {
		return nil
	}
	return t.w.Queue.Forget(ctx, t.job.Installation, went)
}
