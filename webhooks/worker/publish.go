package worker

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/jailed"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// judgePull scans a pull request and publishes the verdict, unless the pull request changed.
func (t *task) judgePull(ctx context.Context, pr *pullState, c *commits) error {
	outcome, err := t.scan(ctx, c)
	if err != nil {
		return err
	}
	if err := t.keepReport(ctx, outcome.Report); err != nil {
		return err
	}
	if err := t.checkCurrent(ctx, pr); err != nil {
		return err
	}
	return t.publish(ctx, c, outcome)
}

// publish publishes a report in all places, and stores the verdict in the record.
func (t *task) publish(ctx context.Context, c *commits, outcome *jailed.Outcome) error {
	began := t.w.Now()
	defer func() { t.stage("publish", began) }()
	if err := t.beginPublishing(ctx); err != nil {
		return err
	}
	content, err := t.content(c, outcome)
	if err != nil {
		return err
	}
	if err := t.to.Judged(c.ref, c.judged); err != nil {
		return err
	}
	if err := t.publication.Publish(ctx, content); err != nil {
		return err
	}
	// A place that failed may work on a later attempt, so the check run is completed last.
	if err := t.publication.Err(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if content.Check.Others, err = t.others(ctx); err != nil {
		return err
	}
	if err := t.publication.Finish(ctx, content); err != nil {
		return err
	}
	if err := t.publication.Err(); err != nil {
		return err
	}
	if err := t.updateBaseline(ctx); err != nil {
		return err
	}
	return t.published(ctx, outcome)
}

// content returns what is published of a report.
func (t *task) content(c *commits, outcome *jailed.Outcome) (*github.Content, error) {
	sarif, err := written(outcome.Report, "sarif")
	if err != nil {
		return nil, err
	}
	lines, err := translation(c)
	if err != nil {
		return nil, err
	}
	return &github.Content{
		Report: outcome.Report, SARIF: sarif,
		Check: github.CheckOptions{FailOn: outcome.FailOn, Lines: lines},
		Blob:  fmt.Sprintf("%s/%s/%s/blob/%s/", t.w.App.WebURL(), t.owner(), t.repo(), c.judged),
	}, nil
}

// written returns a report in a format.
func written(r *report.Report, name string) ([]byte, error) {
	var b bytes.Buffer
	if err := format.Write(&b, name, r, format.Options{}); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// keepReport stores the report for the pages, before anything links to it.
func (t *task) keepReport(ctx context.Context, r *report.Report) error {
	wire, err := written(r, "json")
	if err != nil {
		return err
	}
	if err := t.w.Queue.PutReport(ctx, t.job.ID, wire); err != nil {
		return fmt.Errorf("keep the report: %w", asStoreError(err))
	}
	t.record.HasReport = true
	return nil
}

// translation returns the translation of lines from the merge commit to the head, where
// annotations are shown.
func translation(c *commits) (github.Translation, error) {
	if c.judged == c.head {
		return github.Translation{}, nil
	}
	judged, err := c.repository.Commit(c.judged)
	if err != nil {
		return github.Translation{}, fmt.Errorf("read what was judged: %w", err)
	}
	head, err := c.repository.Commit(c.head)
	if err != nil {
		return github.Translation{}, fmt.Errorf("read the head: %w", err)
	}
	return github.Translation{Judged: judged.FS(), Head: head.FS()}, nil
}

// published stores the verdict in the record.
func (t *task) published(ctx context.Context, outcome *jailed.Outcome) error {
	r, verdict := &t.record, outcome.Report
	conclusion := github.Conclude(verdict, outcome.FailOn, false)
	r.Conclusion = string(conclusion)
	r.Denied = verdict.Summary.Findings[report.ActionDeny][report.StatusNew]
	r.Warned = verdict.Summary.Findings[report.ActionWarn][report.StatusNew]
	r.Indeterminate = 0
	for _, i := range verdict.Indeterminate {
		if !i.Untouched {
			r.Indeterminate++
		}
	}
	r.CheckURL, r.CommentURL = t.to.CheckURL(), t.publication.CommentURL()
	r.Stage, r.Done, r.Total = "", 0, 0
	t.w.Metrics.ScanEnded(r.Conclusion)
	why := t.publication.Notes()
	for _, d := range outcome.Died {
		why = append(why, d.Why)
	}
	if err := t.end(ctx, queue.Completed, strings.Join(why, "; ")); err != nil {
		return err
	}
	return t.recheckOthers(ctx)
}
