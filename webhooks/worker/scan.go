package worker

import (
	"context"
	"errors"
	"time"

	"github.com/preadmit/preadmit/webhooks/jailed"
)

const (
	// often is how often a scan's progress is put into its record at most.
	often = time.Second
	// reportWait is the longest that this may take: a verdict waits for it.
	reportWait = time.Second
)

// scan judges what was fetched, in a jail.
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

// remotes are URLs of the repository: where it is fetched from, and where people find it. Over
// SSH it has the same host and path.
func (t *task) remotes() []string {
	return []string{t.w.GitURL(t.owner(), t.repo()), t.w.App.WebURL() + "/" + t.owner() + "/" + t.repo()}
}

// countDeaths counts the processes that a scan cost.
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

// report puts progress into the record. It is for people who look, so that nothing
// fails because of it.
func (t *task) report(ctx context.Context, stage string, done, total int) {
	t.record.Stage, t.record.Done, t.record.Total = oneLine(stage), done, total
	ctx, cancel := context.WithTimeout(ctx, reportWait)
	defer cancel()
	if err := t.keep(ctx); err != nil {
		t.log.Debug("report progress", "error", err)
	}
}
