package reconcile

import (
	"context"
	"errors"
	"time"

	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/queue"
)

const (
	// windUp is how long a worker has to complete the check run of a scan that is over.
	windUp = 2 * time.Minute
	// mostChecks is how many check runs are examined in one pass.
	mostChecks = 200
)

// checks completes the check runs of scans that ended without a verdict. Scans of the last
// day are examined, each until its check run is known to be complete.
func (p *pass) checks(ctx context.Context) error {
	looked, waiting, closed := 0, 0, map[int64]bool{}
	for _, s := range p.Queue.Scans(queue.ScanFilter{States: []queue.State{queue.Superseded, queue.Cancelled, queue.Failed}}) {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case closed[s.Installation] || !p.mayBeLeft(s):
			continue
		case looked == mostChecks:
			p.limited("more scans have ended without a verdict than are looked at in one pass", "most", mostChecks)
			return nil
		case !p.grant(s.Installation, "check runs"):
			waiting++
			continue
		}
		looked++
		err := p.end(ctx, s)
		if errors.Is(err, errStore) {
			return err
		}
		closed[s.Installation] = p.ends(ctx, err)
		p.failed("complete the check run of a scan that ended", err, "scan", s.ID)
	}
	if waiting > 0 {
		p.limited("the requests of installations are for scans now: check runs that may be in progress wait", "scans", waiting)
	}
	return nil
}

// mayBeLeft reports whether a scan may have left a check run in progress.
func (p *pass) mayBeLeft(s queue.Scan) bool {
	_, refused := p.ended[s.ID]
	age := p.Now().Sub(s.Finished)
	if s.CheckEnded || refused || s.Kind == queue.KindPush || s.Started.IsZero() || s.Head == "" || age < windUp || age > remember {
		return false
	}
	last := p.Queue.Scans(queue.ScanFilter{
		Repository: s.Repository, Head: s.Head, Limit: 1, // there may be 100,000, and only the newest matters
		Kinds: []queue.Kind{queue.KindPull, queue.KindGroup}, // these share a check run, unlike a push
	})
	// A later scan of the same commit completes the same check run.
	return len(last) == 0 || last[0].State.Over() && last[0].State != queue.Completed
}

// end completes a scan's check run if it is in progress, and records that it is complete.
func (p *pass) end(ctx context.Context, s queue.Scan) error {
	to, err := p.publisher(ctx, s.Installation, s.Repository, github.Target{Owner: s.Owner, Repo: s.Repo, HeadSHA: s.Head, Pull: s.Pull})
	if err != nil {
		return err
	}
	done, err := to.End(ctx, github.Check{
		Conclusion: github.Cancelled, Title: "Ended without a verdict",
		Summary: "preadmit was stopped while it judged this commit, and it is not judged any more. \"Re-run\" has it judged again.",
	})
	switch {
	case unwilling(err): // another attempt would fail as well
		p.ended[s.ID] = p.Now()
		return err
	case err != nil:
		return err
	case done.Changed:
		p.Metrics.Finished(1)
		p.Log.Info("completed a check run that was left in progress", "scan", s.ID)
	}
	return stored(p.Queue.CheckEnded(ctx, s))
}
