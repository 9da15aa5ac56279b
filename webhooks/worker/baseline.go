package worker

import (
	"context"
	"slices"

	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// baselineName is the name of the check run of a baseline that cannot be made. It is not
// that of verdicts: a pull request may be of the same commit.
func (t *task) baselineName() string { return t.w.Name + " baseline" }

// noBaselineTitle is that of a check run of a baseline which nothing but a setting keeps
// from being made.
const noBaselineTitle = "No baseline"

// baselines are the jobs for a commit that a baseline was begun of, or that the default
// branch is at: one or none.
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

// tellBaseline has the check run of a baseline that failed say what became of it, after
// all was told of it elsewhere.
func (t *task) tellBaseline(ctx context.Context) error {
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

// tellMoved has the check run that somebody asked to be done again say where the default
// branch is since.
func (t *task) tellMoved(ctx context.Context, tip string) error {
	if !t.job.Fresh || t.job.Head == tip || !objectName.MatchString(t.job.Head) {
		return nil
	}
	return t.amendBaseline(ctx, t.job.Head, github.Check{
		Conclusion: github.Neutral, Title: "The default branch has moved on",
		Summary: "It is at " + tip + " now, which is judged instead.",
	})
}

// amendBaseline has the check run of a commit's baseline say something else, if there is
// one.
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
