package worker

import (
	"context"
	"slices"

	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// baselineName returns the name of the check run of a failed baseline. It differs from that of
// verdicts, since a pull request may have the same commit as its head.
func (t *task) baselineName() string { return t.w.Name + " baseline" }

// noBaselineTitle is the title of the check run of a baseline that a setting or permission
// prevents.
const noBaselineTitle = "No baseline"

// baselines returns the job for a commit of which a baseline was started, or that is the current
// commit of the default branch: one or none.
func (t *task) baselines(ctx context.Context, commit string) ([]queue.Job, error) {
	scans := t.w.Queue.Scans(queue.ScanFilter{Installation: t.job.Installation, Repository: t.job.Repository, Head: commit})
	if i := slices.IndexFunc(scans, func(s queue.Scan) bool { return s.Kind == queue.KindPush }); i >= 0 {
		return []queue.Job{{Kind: queue.KindPush, Ref: scans[i].Ref}}, nil
	}
	switch tip, err := t.defaultTip(ctx); {
	case gone(err) || degrades(err):
		return nil, nil
	case err != nil || tip != commit:
		return nil, err
	}
	return []queue.Job{{Kind: queue.KindPush, Ref: t.record.Ref}}, nil
}

// updateBaseline updates the check run of a failed baseline with the outcome, after the findings were
// published.
func (t *task) updateBaseline(ctx context.Context) error {
	if t.job.Kind != queue.KindPush {
		return nil
	}
	check := github.Check{
		Conclusion: github.Success, Title: "The baseline was made",
		Summary: "Code scanning knows what is found at this commit.",
	}
	if len(t.publication.Notes()) > 0 {
		check = github.Check{Conclusion: github.Neutral, Title: noBaselineTitle, Summary: t.publication.NotesText()}
	}
	return t.amendBaseline(ctx, t.record.Head, check)
}

// reportMoved updates the check run that was requested again with the current commit of the default
// branch, if that is another one.
func (t *task) reportMoved(ctx context.Context, tip string) error {
	if !t.job.Fresh || t.job.Head == tip || !objectName.MatchString(t.job.Head) {
		return nil
	}
	return t.amendBaseline(ctx, t.job.Head, github.Check{
		Conclusion: github.Neutral, Title: "The default branch has moved on",
		Summary: "It is at " + tip + " now, which is judged instead.",
	})
}

// amendBaseline updates the check run of a commit's baseline, if there is one.
func (t *task) amendBaseline(ctx context.Context, commit string, check github.Check) error {
	to, err := t.address(ctx, github.Target{HeadSHA: commit}, t.baselineName())
	if err != nil {
		return err
	}
	if _, err = to.Amend(ctx, check); degrades(err) {
		t.log.Info("the check run of a baseline stays as it is", "error", err)
		return nil
	}
	return err
}
