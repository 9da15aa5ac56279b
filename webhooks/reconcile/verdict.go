package reconcile

import (
	"context"
	"time"

	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// head is a commit that a pull request is to be judged at.
type head struct {
	repository int64
	pull       int
	sha        string
}

const (
	// again is how long a head rests after a scan of it ended without a verdict: the scan
	// after it may be on its way. What was enqueued for it before doubles the time, up to
	// lastAgain, so that what fails does not fail all the time.
	again     = 30 * time.Minute
	lastAgain = 24 * time.Hour
)

// lacksVerdict tells whether a pull request has neither a verdict on its head nor a job
// that will give one.
func (p *pass) lacksVerdict(ctx context.Context, j queue.Job) (bool, error) {
	key := head{j.Repository, j.Pull, j.Head}
	scans := p.Queue.Scans(queue.ScanFilter{Repository: j.Repository, Pull: j.Pull, Head: j.Head})
	if len(scans) > 0 {
		switch scan := scans[0]; {
		case !scan.State.Over() || scan.State == queue.Completed:
			return false, nil
		case p.Now().Sub(scan.Finished) < pause(scans):
			return false, nil
		case scan.State != queue.Failed:
			return true, nil // its check run, if there is one, says that it was cancelled
		}
	}
	if _, is := p.judged[key]; is {
		p.judged[key] = p.Now()
		return false, nil
	}
	to, err := p.publisher(ctx, j.Installation, j.Repository, github.Target{Owner: j.Owner, Repo: j.Repo, HeadSHA: j.Head})
	if err != nil {
		return false, err
	}
	completed, err := to.Completed(ctx)
	if err == nil && completed {
		p.judged[key] = p.Now()
	}
	return err == nil && !completed, err
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

// newest is the newest scan that f wants.
func (p *pass) newest(f queue.ScanFilter) (queue.Scan, bool) {
	f.Limit = 1
	for _, scan := range p.Queue.Scans(f) {
		return scan, true
	}
	return queue.Scan{}, false
}

// publisher reaches the check run of a commit.
func (p *pass) publisher(ctx context.Context, installation, repository int64, target github.Target) (*github.Publisher, error) {
	login, err := p.App.Login(ctx)
	if err != nil {
		return nil, err
	}
	return github.New(target, github.Options{
		Client: p.App.Repository(installation, repository).HTTP(), BaseURL: p.App.BaseURL(), Name: p.Name, Login: login,
	})
}
