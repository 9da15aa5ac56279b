package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	gogithub "github.com/google/go-github/v62/github"

	"github.com/preadmit/preadmit/webhooks/queue"
)

// installations checks the open pull requests of all installations. A failure in one
// is logged, and the others are checked.
func (p *pass) installations(ctx context.Context) error {
	all, err := p.App.Installations(ctx)
	if err != nil {
		return err
	}
	for _, i := range all {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if i.SuspendedAt == nil {
			p.failed("look at an installation", p.installation(ctx, i.GetID()), "installation", i.GetID())
		}
	}
	return nil
}

// installation checks repositories, beginning where the last pass stopped, as long as there are
// requests left.
func (p *pass) installation(ctx context.Context, id int64) error {
	client, err := p.App.Installation(ctx, id)
	if err != nil {
		return err
	}
	repositories, err := p.App.Repositories(ctx, id)
	if err != nil {
		return err
	}
	for _, r := range p.inTurn(id, repositories) {
		err := p.repository(ctx, client, id, r)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if p.ends(ctx, err) {
			p.next[id] = r.GetID() + 1
			return fmt.Errorf("repository %d: %w", r.GetID(), err)
		}
		p.failed("look at a repository", err, "installation", id, "repository", r.GetID())
		if p.spent(id) {
			p.next[id] = r.GetID() + 1
			p.limited("an installation's requests are for scans now", "installation", id, "used", p.used[id])
			return nil
		}
	}
	delete(p.next, id)
	return nil
}

// inTurn returns repositories ordered by id, beginning with the one where the last pass stopped.
// Archived ones are left out, since they accept no check runs.
func (p *pass) inTurn(installation int64, all []*gogithub.Repository) []*gogithub.Repository {
	all = slices.DeleteFunc(slices.Clone(all), func(r *gogithub.Repository) bool { return r.GetArchived() || r.GetDisabled() })
	slices.SortFunc(all, func(a, b *gogithub.Repository) int { return cmp.Compare(a.GetID(), b.GetID()) })
	at, _ := slices.BinarySearchFunc(all, p.next[installation], func(r *gogithub.Repository, id int64) int {
		return cmp.Compare(r.GetID(), id)
	})
	return slices.Concat(all[at:], all[:at])
}

// repository checks the open pull requests of a repository. If one fails, the others are still
// checked.
func (p *pass) repository(ctx context.Context, client *gogithub.Client, installation int64, r *gogithub.Repository) error {
	p.App.Repository(installation, r.GetID()).Recheck(ctx)
	opts := &gogithub.PullRequestListOptions{State: "open", ListOptions: gogithub.ListOptions{PerPage: 100, Page: 1}}
	for opts.Page != 0 {
		pulls, resp, err := client.PullRequests.List(ctx, r.GetOwner().GetLogin(), r.GetName(), opts)
		if err != nil {
			return fmt.Errorf("list open pull requests: %w", err)
		}
		p.note(installation, resp.Header)
		opts.Page = resp.NextPage
		for _, pull := range pulls {
			err := p.pull(ctx, installation, r, pull)
			if p.endsRepository(ctx, err) {
				return fmt.Errorf("pull request %d: %w", pull.GetNumber(), err)
			}
			p.failed("look at a pull request", err, "repository", r.GetID(), "pull", pull.GetNumber())
		}
	}
	return nil
}

// reason is the reason of jobs that reconciliation enqueues.
const reason = "reconcile"

// pull enqueues a job for an open pull request if it has no verdict.
func (p *pass) pull(ctx context.Context, installation int64, r *gogithub.Repository, pull *gogithub.PullRequest) error {
	if pull.GetDraft() {
		return nil
	}
	job := queue.Job{
		Kind: queue.KindPull, Installation: installation, Repository: r.GetID(),
		Owner: r.GetOwner().GetLogin(), Repo: r.GetName(), Pull: pull.GetNumber(),
		Head: pull.GetHead().GetSHA(), Base: pull.GetBase().GetSHA(), Reason: reason,
	}
	lacks, err := p.lacksVerdict(ctx, job, pull.GetBase().GetRef())
	if err != nil || !lacks {
		return err
	}
	job, _, err = p.Queue.Enqueue(ctx, job)
	if err == nil {
		p.Metrics.Enqueued(1)
		p.Log.Info("enqueued a pull request without a verdict", "subject", job.Subject(), "head", job.Head)
	}
	return stored(err)
}
