package worker

import (
	"context"
	"slices"

	gogithub "github.com/google/go-github/v62/github"

	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// resolve enqueues jobs for everything that a commit has to be judged again for: the pull requests
// with this head (GitHub lists none for a commit of a fork), the merge group, and the baseline,
// which is then made of the current commit of the default branch.
func (t *task) resolve(ctx context.Context) error {
	numbers, groups := t.recorded(t.job.Head)
	named, err := t.pullsOf(ctx, t.job.Head)
	if (err == nil || gone(err)) && len(named)+len(numbers) == 0 {
		named, err = t.pullsWithHead(ctx, t.job.Head)
	}
	if err != nil && !gone(err) {
		return err
	}
	for _, pr := range named {
		numbers = append(numbers, pr.GetNumber())
	}
	jobs, err := t.baselines(ctx, t.job.Head)
	if err != nil {
		return err
	}
	for _, g := range groups {
		jobs = append(jobs, queue.Job{Kind: queue.KindGroup, Base: g.Base, Ref: g.Ref})
	}
	slices.Sort(numbers)
	for _, n := range slices.Compact(numbers) {
		jobs = append(jobs, queue.Job{Kind: queue.KindPull, Pull: n})
	}
	for _, j := range jobs {
		if err := t.again(ctx, j); err != nil {
			return err
		}
		t.log.Info("resolved a commit", "for", string(j.Kind), "pull", j.Pull)
	}
	return nil
}

// again enqueues a job to judge the commit again although there is a verdict.
func (t *task) again(ctx context.Context, j queue.Job) error {
	j.Installation, j.Repository, j.Owner, j.Repo = t.job.Installation, t.job.Repository, t.job.Owner, t.job.Repo
	j.Head, j.Fresh, j.Reason = t.job.Head, true, t.job.Reason
	_, _, err := t.w.enqueue(ctx, j)
	return err
}

// recorded returns the numbers of pull requests that have records with a head, and the newest
// merge group.
func (t *task) recorded(head string) (numbers []int, groups []queue.Scan) {
	for _, s := range t.w.Queue.Scans(queue.ScanFilter{Installation: t.job.Installation, Repository: t.job.Repository, Head: head}) {
		switch {
		case s.Kind == queue.KindPull && s.Pull > 0 && !slices.Contains(numbers, s.Pull):
			numbers = append(numbers, s.Pull)
		case s.Kind == queue.KindGroup && len(groups) == 0:
			groups = append(groups, s)
		}
	}
	return numbers, groups
}

// pullsOf returns the open pull requests whose head is the commit, as GitHub lists them.
func (t *task) pullsOf(ctx context.Context, head string) ([]*gogithub.PullRequest, error) {
	return heads("ask for the pull requests of the commit", head, func(page gogithub.ListOptions) ([]*gogithub.PullRequest, *gogithub.Response, error) {
		return t.client().PullRequests.ListPullRequestsWithCommit(ctx, t.owner(), t.repo(), head, &page)
	})
}

// pullsWithHead does the same with a list of all open pull requests.
func (t *task) pullsWithHead(ctx context.Context, head string) ([]*gogithub.PullRequest, error) {
	return heads("list the open pull requests", head, func(page gogithub.ListOptions) ([]*gogithub.PullRequest, *gogithub.Response, error) {
		return t.client().PullRequests.List(ctx, t.owner(), t.repo(), &gogithub.PullRequestListOptions{State: "open", ListOptions: page})
	})
}

// heads returns the open pull requests of a list whose head is the commit.
func heads(doing, head string, list func(gogithub.ListOptions) ([]*gogithub.PullRequest, *gogithub.Response, error)) ([]*gogithub.PullRequest, error) {
	var found []*gogithub.PullRequest
	err := eachPull(list, func(pr *gogithub.PullRequest) error {
		if pr.GetState() == "open" && pr.GetHead().GetSHA() == head {
			found = append(found, pr)
		}
		return nil
	})
	return found, github.Explain(doing, "pull-requests: read", err)
}

// eachPull calls do for each pull request of a list, page by page.
func eachPull(list func(gogithub.ListOptions) ([]*gogithub.PullRequest, *gogithub.Response, error), do func(*gogithub.PullRequest) error) error {
	page := gogithub.ListOptions{PerPage: 100}
	for {
		pulls, resp, err := list(page)
		if err != nil {
			return err
		}
		for _, pr := range pulls {
			if err := do(pr); err != nil {
				return err
			}
		}
		if resp.NextPage <= page.Page { // 0 at the end
			return nil
		}
		page.Page = resp.NextPage
	}
}
