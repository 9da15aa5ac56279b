package reconcile

import (
	"context"
	"time"

	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/queue"
)

const (
	// windUp is how long a worker has to complete the check run of a scan that is over.
	windUp = 2 * time.Minute
	// mostChecks is how many check runs are looked at in one pass.
	mostChecks = 200
)

// checks completes the check runs of scans that ended without a verdict. Scans of the last
// day are looked at, each until its check run is known to be complete.
func (p *pass) checks(ctx context.Context) error {
	looked := 0
	for _, s := range p.Queue.Scans(queue.ScanFilter{States: []queue.State{queue.Superseded, queue.Cancelled, queue.Failed}}) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !p.mayBeLeft(s) {
			continue
		}
		if looked++; looked > mostChecks {
			p.limited("more scans have ended without a verdict than are looked at in one pass", "most", mostChecks)
			return nil
		}
		err := p.end(ctx, s)
		if err == nil {
			p.ended[s.ID] = p.Now()
		}
		p.failed("complete the check run of a scan that ended", err, "scan", s.ID)
	}
	return nil
}

// mayBeLeft tells whether a scan may have left a check run in progress.
func (p *pass) mayBeLeft(s queue.Scan) bool {
	_, ended := p.ended[s.ID]
	age := p.Now().Sub(s.Finished)
	if ended || s.Kind == queue.KindPush || s.Started.IsZero() || s.Head == "" || age < windUp || age > remember {
		return false
	}
	last, found := p.newest(queue.ScanFilter{Repository: s.Repository, Head: s.Head})
	// What comes after it on the same commit completes the same check run.
	return !found || last.State.Over() && last.State != queue.Completed
}

// end completes a scan's check run, if it is in progress.
func (p *pass) end(ctx context.Context, s queue.Scan) error {
	to, err := p.publisher(ctx, s.Installation, s.Repository, github.Target{Owner: s.Owner, Repo: s.Repo, HeadSHA: s.Head})
	if err != nil {
		return err
	}
	done, err := to.End(ctx, github.Check{
		Conclusion: github.Cancelled, Title: "Ended without a verdict",
		Summary: "preadmit was stopped while it judged this commit, and it is not judged any more. \"Re-run\" has it judged again.",
	})
	if err == nil && done.Changed {
		p.Metrics.Finished(1)
		p.Log.Info("completed a check run that was left in progress", "scan", s.ID)
	}
	return err
}
