package reconcile

import (
	"context"
	"time"

	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/app"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// head is a commit that a pull request is to be judged at, after its newest scan there; ""
// without one.
type head struct {
	repository int64
	pull       int
	sha        string
	last       string
}

const (
	// again is how long a head rests after a scan of it ended without a verdict: the scan
	// after it may be on its way. What was enqueued for it before doubles the time, up to
	// lastAgain, so that what fails does not fail all the time.
	again     = 30 * time.Minute
	lastAgain = 24 * time.Hour
)

// lacksVerdict reports whether a pull request has neither a verdict on its head, to be merged
// into baseRef, nor a job that will give one.
func (p *pass) lacksVerdict(ctx context.Context, j queue.Job, baseRef string) (bool, error) {
	scans := p.Queue.Scans(queue.ScanFilter{Repository: j.Repository, Pull: j.Pull, Head: j.Head})
	if len(scans) == 0 {
		published, err := p.published(ctx, j, queue.Scan{})
		return err == nil && !published, err
	}
	last := scans[0]
	judged := last.State == queue.Completed && (last.BaseRef == baseRef || last.BaseRef == "")
	switch {
	case !last.State.Over(), judged && last.CheckURL != "":
		return false, nil
	case p.Now().Sub(last.Finished) < pause(scans):
		return false, nil
	case judged: // but there was no permission for a check run, which there may be since
		return p.App.Repository(j.Installation, j.Repository).Grants(ctx, "checks: write")
	case last.State == queue.Failed:
		published, err := p.published(ctx, j, last)
		return err == nil && !published, err
	}
	return true, nil // its check run, if there is one, was cancelled, or is about another branch
}

// published reports whether GitHub shows for a pull request what its newest scan of the
// head found, if there was one: a check run may be about another one with the same head, or
// say what was so before that scan. What may not be asked now is taken to be published.
func (p *pass) published(ctx context.Context, j queue.Job, last queue.Scan) (bool, error) {
	key := head{j.Repository, j.Pull, j.Head, last.ID}
	if _, is := p.judged[key]; is {
		p.judged[key] = p.Now()
		return true, nil
	}
	if !p.grant(j.Installation, "verdicts") {
		return true, nil
	}
	to, err := p.publisher(ctx, j.Installation, j.Repository, github.Target{Owner: j.Owner, Repo: j.Repo, HeadSHA: j.Head})
	if err != nil {
		return false, err
	}
	says, err := to.LastVerdict(ctx)
	if err != nil || says.Pull != j.Pull {
		return false, err
	}
	switch says.Conclusion {
	case github.Success, github.Neutral, github.ActionRequired: // of an older scan, if the last one failed
		if last.State == queue.Failed {
			return false, nil
		}
	case github.Failure:
	default:
		return false, nil
	}
	p.judged[key] = p.Now()
	return true, nil
}

// pause is how long a head rests that has had these scans.
func pause(scans []queue.Scan) time.Duration {
	d := again
	for _, s := range scans {
		if s.Reason == reason {
			d = min(2*d, lastAgain)
		}
	}
	return d
}

// publisher reaches the check run of a commit.
func (p *pass) publisher(ctx context.Context, installation, repository int64, target github.Target) (*github.Publisher, error) {
	login, err := p.App.Login(ctx)
	if err != nil {
		return nil, err
	}
	return github.New(target, github.Options{
		Client: p.watch(installation, p.App.Repository(installation, repository).HTTP()), BaseURL: p.App.BaseURL(), Name: p.Name, Login: login,
		Rescan: app.ActionRescan,
	})
}
