package github

import (
	"context"
	"time"

	"github.com/google/go-github/v62/github"

	"github.com/preadmit/preadmit/report/github/retry"
)

// checks returns the attempt for a request on check runs.
func checks(doing string) attempt { return attempt{doing, "checks: write"} }

// find returns the newest check run with this name, app and commit that preadmit created,
// nil if there is none. A workflow's job of the same name is a check run of the same app,
// but has another external_id.
func (p *Publisher) find(ctx context.Context) (*github.CheckRun, error) {
	slug, err := p.appSlug(ctx)
	if err != nil {
		return nil, err
	}
	var newest *github.CheckRun
	opts := github.ListCheckRunsOptions{CheckName: github.String(p.opts.Name), Filter: github.String("all")}
	err = pages(func(page github.ListOptions) (*github.Response, error) {
		opts.ListOptions = page
		list, resp, err := p.api.Checks.ListCheckRunsForRef(ctx, p.target.Owner, p.target.Repo, p.target.HeadSHA, &opts)
		if err != nil {
			return resp, err
		}
		for _, run := range list.CheckRuns {
			if p.own(run, slug) && run.GetID() > newest.GetID() {
				newest = run
			}
		}
		return resp, nil
	})
	if err != nil {
		return nil, checks("list the check runs").fail(err)
	}
	p.known, p.queried = newest, true
	return newest, nil
}

func (p *Publisher) own(run *github.CheckRun, slug string) bool {
	_, ours := readMark(run.GetExternalID())
	return ours && run.GetName() == p.opts.Name && (slug == "" || run.GetApp().GetSlug() == slug)
}

// create creates a check run in progress. When it is unknown whether GitHub created one,
// create lists the check runs before it sends the request again. It waits up to answerWait
// for the response after ctx ends: nobody would complete a run whose ID is not known.
func (p *Publisher) create(ctx context.Context) error {
	opts := github.CreateCheckRunOptions{
		Name: p.opts.Name, HeadSHA: p.target.HeadSHA,
		Status:     github.String("in_progress"),
		StartedAt:  &github.Timestamp{Time: p.opts.Clock.Now().UTC()},
		ExternalID: github.String(mark{phaseStarted, none, none, p.target.Pull}.String()),
		Output:     output("Judging", "preadmit asks what the API server will say to this change."),
	}
	if p.target.DetailsURL != "" {
		opts.DetailsURL = github.String(p.target.DetailsURL)
	}
	before := p.known.GetID()
	return p.carefully(ctx, func() error {
		if err := ctx.Err(); err != nil {
			return checks("create the check run").fail(err)
		}
		sent, cancel := outlasting(ctx, answerWait)
		defer cancel()
		run, _, err := p.api.Checks.CreateCheckRun(retry.Once(sent), p.target.Owner, p.target.Repo, opts)
		if err == nil {
			p.known, p.queried = run, true
		}
		return checks("create the check run").fail(err)
	}, func() (bool, error) {
		run, err := p.find(ctx)
		return run.GetID() > before, err
	})
}

// answerWait is how long to wait for the response to a create request after the context ends.
const answerWait = 5 * time.Second

// outlasting returns a context that is canceled the given time after ctx ends.
func outlasting(ctx context.Context, some time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(some):
			cancel()
		case <-longer.Done():
		}
	})
	return longer, func() { stop(); cancel() }
}

// patch updates the known run; count is the number of its annotations afterwards. GitHub
// appends annotations, so the same update must not be applied twice.
func (p *Publisher) patch(ctx context.Context, opts github.UpdateCheckRunOptions, count int) error {
	opts.Name = p.opts.Name
	doing := checks("update the check run")
	return p.carefully(ctx, func() error {
		run, _, err := p.api.Checks.UpdateCheckRun(retry.Once(ctx), p.target.Owner, p.target.Repo, p.known.GetID(), opts)
		if err == nil {
			p.known = run
		}
		return doing.fail(err)
	}, func() (bool, error) {
		run, _, err := p.api.Checks.GetCheckRun(ctx, p.target.Owner, p.target.Repo, p.known.GetID())
		if err != nil {
			return false, doing.fail(err)
		}
		p.known = run
		return run.GetExternalID() == opts.GetExternalID() && run.GetOutput().GetAnnotationsCount() >= count, nil
	})
}

// carefully calls do, which must not take effect twice. After a failure that leaves open
// whether it took effect, done checks this with GitHub, and do is retried only if it did not.
func (p *Publisher) carefully(ctx context.Context, do func() error, done func() (bool, error)) error {
	for try := 1; ; try++ {
		err := do()
		wait := retry.Backoff(try)
		if !unavailable(ctx, err) || try >= p.opts.Tries || !p.wait.Fits(ctx, wait) {
			return err
		}
		if slept := p.opts.Clock.Sleep(ctx, wait); slept != nil {
			return err
		}
		if ok, checkErr := done(); ok || checkErr != nil {
			return checkErr
		}
	}
}
