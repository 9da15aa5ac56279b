package worker

import (
	"context"

	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// group judges a merge group of a merge queue. Its check run is on the group's commit; a group
// has no pull request for a comment, and code scanning does not support it.
func (t *task) group(ctx context.Context) error {
	t.record.Head, t.record.Base, t.record.Ref = t.job.Head, t.job.Base, t.job.Ref
	if t.job.Cancel {
		return t.endUnwanted(ctx, "The merge queue has dropped the group.")
	}
	if err := t.begin(ctx, github.Target{HeadSHA: t.job.Head}, github.Places{CheckRun: true}); err != nil {
		return err
	}
	c := &commits{
		base: t.job.Base, judged: t.job.Head, head: t.job.Head, baseName: "base of the merge group", judgedName: t.job.Ref,
	}
	same, err := t.unchanged(ctx, func(last *queue.Scan) bool { return last.Judged == c.judged && last.Base == c.base })
	if err != nil || same {
		return err
	}
	if err := t.fetch(ctx, c, c.base, c.judged); err != nil {
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
