package worker

import (
	"context"
	"slices"

	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// push has code scanning know everything that is found at the default branch: it takes
// what is not there for the finding of whoever uploads it next. That is no verdict, so
// there is no check run unless it cannot be done; see complete.
func (t *task) push(ctx context.Context) error {
	t.record.Head, t.record.Base, t.record.Ref = t.job.Head, "", t.job.Ref
	if why, err := t.noBaseline(ctx); err != nil || why != "" {
		return t.skip(ctx, why, err)
	}
	if err := t.begin(ctx, github.Target{HeadSHA: t.job.Head}, github.Places{SARIF: true}); err != nil {
		return err
	}
	if last, ok := t.lastWord(); ok && !t.job.Fresh && last.State == queue.Completed && last.Judged == t.job.Head {
		t.record.Judged, t.record.Conclusion = last.Judged, last.Conclusion
		return t.end(ctx, queue.Completed, "the same commit was judged already, by the scan "+last.ID)
	}
	c := &commits{judged: t.job.Head, head: t.job.Head, judgedName: t.job.Ref, ref: t.job.Ref}
	if err := t.fetch(ctx, c, c.judged); err != nil {
		return err
	}
	outcome, err := t.scan(ctx, c)
	if err != nil {
		return err
	}
	if err := t.keepReport(ctx, outcome.Report); err != nil {
		return err
	}
	return t.publish(ctx, c, outcome)
}

// noBaseline says why there is none to make, "" when there is one.
func (t *task) noBaseline(ctx context.Context) (string, error) {
	if _, err := t.access.Token(ctx); err != nil {
		return "", err
	}
	if slices.Contains(t.access.Missing(), "security_events: write") {
		return "the installation does not grant security_events: write, so that code scanning is told nothing", nil
	}
	return "", nil
}

// skip ends a job without work.
func (t *task) skip(ctx context.Context, why string, err error) error {
	if err != nil {
		return err
	}
	t.w.Metrics.ScanEnded("neutral")
	t.record.Conclusion = string(github.Neutral)
	return t.end(ctx, queue.Completed, why)
}
