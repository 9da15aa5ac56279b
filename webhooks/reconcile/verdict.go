package reconcile

import (
	"context"
	"time"

	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/app"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// head identifies a commit at which a pull request has to be judged; last is the id of the newest
// scan of it, "" without one.
type head struct {
	repository int64
	pull       int
	sha        string
	last       string
}

const (
	// again is how long a head rests after a scan of it ended without a verdict, since the next
	// scan may be about to start. Each earlier job of reconciliation for the head doubles the
	// time, up to lastAgain, so that repeated failures become rare.
	again     = 30 * time.Minute
	lastAgain = 24 * time.Hour
)

// lacksVerdict reports whether a pull request has neither a verdict on its head with the base
// baseRef, nor a job for one.
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
	case judged: // the permission for a check run was missing, and may be granted now
		return p.App.Repository(j.Installation, j.Repository).Grants(ctx, "checks: write")
	case last.State == queue.Failed:
		published, err := p.published(ctx, j, last)
		return err == nil && !published, err
	}
	return true, nil // its check run, if any, was cancelled, or is about another base
}

// published reports whether GitHub shows the verdict of last, the newest scan of the head, for the
// pull request: a check run may belong to another pull request with the same head, or be
// older than that scan. If no request may be sent now, it returns true.
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

// pause returns how long a head rests after these scans.
func pause(scans []queue.Scan) time.Duration {
	d := again
	for _, s := range scans {
		if s.Reason == reason {
			d = min(2*d, lastAgain)
		}
	}
	return d
}

// publisher returns a publisher for the check run of a commit.
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
