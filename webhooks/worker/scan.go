package worker

import (
	"context"
	"errors"
	"time"

	"github.com/preadmit/preadmit/webhooks/jailed"
)

const (
	// often is the shortest interval between two updates of a scan's progress in its record.
	often = time.Second
	// reportWait is the timeout of such an update, since the scan waits for it.
	reportWait = time.Second
)

// scan judges the fetched commits in a jail.
func (t *task) scan(ctx context.Context, c *commits) (*jailed.Outcome, error) {
	began := t.w.Now()
	defer func() { t.stage("scan", began) }()
	var told time.Time
	var stage string
	outcome, err := t.w.Scanner.Scan(ctx, jailed.Request{
		Repository: t.dir, Base: c.base, Head: c.judged, BaseName: c.baseName, HeadName: c.judgedName,
		Owner: t.owner(), Remotes: t.remotes(), Diff: c.base != "", Version: t.w.Version,
	}, func(now string, done, total int) {
		if now == stage && t.w.Now().Sub(told) < often {
			return
		}
		stage, told = now, t.w.Now()
		t.report(ctx, now, done, total)
	})
	t.countDeaths(outcome, err)
	return outcome, err
}

// remotes returns URLs of the repository: the one it is fetched from, and that of its web page.
// The SSH URL has the same host and path.
func (t *task) remotes() []string {
	return []string{t.w.GitURL(t.owner(), t.repo()), t.w.App.WebURL() + "/" + t.owner() + "/" + t.repo()}
}

// countDeaths counts the child processes that died during a scan.
func (t *task) countDeaths(outcome *jailed.Outcome, err error) {
	var died []jailed.Death
	if last := new(jailed.DeathError); errors.As(err, &last) {
		died = append(died, last.Death)
	}
	if outcome != nil {
		died = outcome.Died
	}
	for _, d := range died {
		t.w.Jail.ChildDied(d.Limit)
		if d.Root != "" && err == nil {
			t.w.Jail.RootRefused()
		}
	}
}

// report stores the progress in the record. It is only informative, so an error is logged and
// ignored.
func (t *task) report(ctx context.Context, stage string, done, total int) {
	t.record.Stage, t.record.Done, t.record.Total = oneLine(stage), done, total
	ctx, cancel := context.WithTimeout(ctx, reportWait)
	defer cancel()
	if err := t.keep(ctx); err != nil {
		t.log.Debug("report progress", "error", err)
	}
}
