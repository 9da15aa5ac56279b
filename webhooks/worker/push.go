package worker

import (
	"context"
	"fmt"

	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// push uploads all findings of the default branch to code scanning, as its baseline: code scanning
// attributes a finding without one to the next pull request that uploads it. This is no verdict, so
// there is a check run only if it fails; see complete, and updateBaseline for how it is updated.
// The branch and commit are read from GitHub: the job may be of an older push, or of a branch that
// was the default one before and replaced a job of the current one.
func (t *task) push(ctx context.Context) error {
	t.record.Head, t.record.Base, t.record.Ref = t.job.Head, "", t.job.Ref
	tip, err := t.defaultTip(ctx)
	if gone(err) {
		return &overtaken{why: oneLine(err.Error())}
	}
	if err != nil {
		return err
	}
	t.record.Head = tip
	if err := t.reportMoved(ctx, tip); err != nil {
		return err
	}
	if why, err := t.noBaseline(ctx); err != nil || why != "" {
		return t.skip(ctx, why, err)
	}
	if err := t.begin(ctx, github.Target{HeadSHA: tip}, github.Places{SARIF: true}); err != nil {
		return err
	}
	if last, ok := t.lastStarted(); ok && !t.job.Fresh && last.State == queue.Completed && last.Judged == tip && last.Ref == t.record.Ref {
		t.record.Judged, t.record.Conclusion = last.Judged, last.Conclusion
		return t.end(ctx, queue.Completed, "the same commit was judged already, by the scan "+last.ID)
	}
	c := &commits{judged: tip, head: tip, judgedName: t.record.Ref, ref: t.record.Ref}
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

// defaultTip returns the current commit of the default branch, and sets the branch in the
// record.
func (t *task) defaultTip(ctx context.Context) (string, error) {
	repository, _, err := t.client().Repositories.Get(ctx, t.owner(), t.repo())
	if err != nil {
		return "", github.Explain("ask for the default branch", "metadata: read", err)
	}
	t.record.Ref = "refs/heads/" + repository.GetDefaultBranch()
	ref, _, err := t.client().Git.GetRef(ctx, t.owner(), t.repo(), t.record.Ref)
	if err != nil {
		return "", github.Explain("ask where the branch "+t.record.Ref+" is", "contents: read", err)
	}
	if tip := ref.GetObject().GetSHA(); objectName.MatchString(tip) {
		return tip, nil
	}
	return "", fmt.Errorf("get the commit of branch %s: GitHub returned %q", t.record.Ref, ref.GetObject().GetSHA())
}

// noBaseline returns why no baseline can be made, or "".
func (t *task) noBaseline(ctx context.Context) (string, error) {
	if told, err := t.access.Grants(ctx, "security_events: write"); err != nil || told {
		return "", err
	}
	return "the installation does not grant security_events: write, so that code scanning gets nothing", nil
}

// skip ends the job without a scan.
func (t *task) skip(ctx context.Context, why string, err error) error {
	if err != nil {
		return err
	}
	if err := t.amendBaseline(ctx, t.record.Head, github.Check{Conclusion: github.Neutral, Title: noBaselineTitle, Summary: why}); err != nil {
		return err
	}
	t.w.Metrics.ScanEnded("neutral")
	t.record.Conclusion = string(github.Neutral)
	return t.end(ctx, queue.Completed, why)
}
