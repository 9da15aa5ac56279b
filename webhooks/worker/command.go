package worker

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// The commands in comments that package intake accepts.
const (
	rescan  = "/preadmit rescan"
	explain = "/preadmit explain "
)

// leastNamed is the minimum length of an abbreviated commit name.
const leastNamed = 7

// Reactions to a comment. A sender without write access gets no text in reply.
const (
	reactionSeen    = "eyes"
	reactionDone    = "+1"
	reactionRefused = "-1"
	reactionUnknown = "confused"
)

// command executes the command in a comment on a pull request. The sender's permission, and whether the
// comment still has the command, are requested from GitHub.
func (t *task) command(ctx context.Context) error {
	says, err := t.commentUnchanged(ctx)
	if gone(err) {
		return nil // the comment was deleted, or the repository is gone
	}
	if err != nil || !says {
		return err
	}
	may, err := t.mayCommand(ctx)
	switch {
	case err != nil:
		return err
	case !may:
		return t.react(ctx, reactionRefused)
	case t.job.Command == rescan:
		return t.rescan(ctx, "")
	case strings.HasPrefix(t.job.Command, rescan+" "):
		return t.rescan(ctx, strings.TrimPrefix(t.job.Command, rescan+" "))
	case strings.HasPrefix(t.job.Command, explain):
		return t.explain(ctx, strings.TrimPrefix(t.job.Command, explain))
	}
	return t.react(ctx, reactionUnknown)
}

// commentUnchanged reports whether the comment still exists, by the same person and with the same
// command.
func (t *task) commentUnchanged(ctx context.Context) (bool, error) {
	c, _, err := t.client().Issues.GetComment(ctx, t.owner(), t.repo(), t.job.Comment)
	if err != nil {
		return false, github.Explain("ask for the comment", "pull-requests: read", err)
	}
	line, _, _ := strings.Cut(c.GetBody(), "\n")
	return strings.EqualFold(c.GetUser().GetLogin(), t.job.Sender) && strings.TrimRight(line, " \t\r") == t.job.Command, nil
}

// mayCommand reports whether the sender may write to the repository.
func (t *task) mayCommand(ctx context.Context) (bool, error) {
	level, _, err := t.client().Repositories.GetPermissionLevel(ctx, t.owner(), t.repo(), t.job.Sender)
	err = github.Explain("ask for the sender's permission", "metadata: read", err)
	if gone(err) {
		return false, nil // not a collaborator
	}
	return slices.Contains([]string{"admin", "maintain", "write"}, level.GetPermission()), err
}

// react adds an emoji to the comment. GitHub keeps one of each kind, so that it may be
// repeated.
func (t *task) react(ctx context.Context, emoji string) error {
	_, _, err := t.client().Reactions.CreateIssueCommentReaction(ctx, t.owner(), t.repo(), t.job.Comment, emoji)
	err = github.Explain("react to the comment", "pull-requests: write", err)
	if degrades(err) {
		t.log.Info("no reaction", "error", err)
		return nil
	}
	return err
}

// rescan enqueues a job to judge the pull request again in its current state. said is the
// abbreviated name of the commit in the command, or "". Only a named commit is approved, since
// the head may have changed after the sender looked at it.
func (t *task) rescan(ctx context.Context, said string) error {
	pr, err := t.getPull(ctx)
	if err != nil {
		return err
	}
	t.describe(pr)
	named := len(said) >= leastNamed && strings.HasPrefix(pr.head, said)
	approves := pr.fork && t.w.Forks == ForksApprove
	switch {
	case !pr.open(), said != "" && !named:
		return t.react(ctx, reactionUnknown)
	case approves && !named && !t.approved(pr): // the check run explains how to approve
		if err := t.completeDeclined(ctx); err != nil {
			return err
		}
		return t.react(ctx, reactionUnknown)
	}
	if err := t.react(ctx, reactionSeen); err != nil {
		return err
	}
	j := queue.Job{
		Kind: queue.KindPull, Installation: t.job.Installation, Repository: t.job.Repository, Owner: pr.owner, Repo: pr.repo,
		Pull: t.job.Pull, Head: pr.head, Base: pr.base, Fresh: true, Command: rescan, Sender: t.job.Sender,
		Reason: t.job.Command, Delivery: "comment-" + strconv.FormatInt(t.job.Comment, 10),
	}
	if named {
		j.Approved = pr.head
	}
	_, _, err = t.w.enqueue(ctx, j)
	return err
}

// explain replies with a finding of the newest report, by its number.
func (t *task) explain(ctx context.Context, number string) error {
	n, err := strconv.Atoi(number)
	if err != nil {
		return t.react(ctx, reactionUnknown)
	}
	scan, ok := t.reported()
	if !ok {
		return t.react(ctx, reactionUnknown)
	}
	r, err := t.savedReport(ctx, scan.ID)
	if err != nil {
		return err
	}
	blob := fmt.Sprintf("%s/%s/%s/blob/%s/", t.w.App.WebURL(), t.owner(), t.repo(), scan.Judged)
	body, err := explanation(r, n, blob)
	if err != nil {
		return err
	}
	to, err := t.address(ctx, github.Target{HeadSHA: scan.Head, Pull: t.job.Pull}, t.w.Name)
	if err != nil {
		return err
	}
	if _, err := to.Reply(ctx, strconv.FormatInt(t.job.Comment, 10), body); err != nil {
		if degrades(err) {
			t.log.Info("no reply", "error", err)
			return nil
		}
		return err
	}
	return t.react(ctx, reactionDone)
}

// reported returns the newest scan of the pull request that has a report.
func (t *task) reported() (queue.Scan, bool) {
	for _, s := range t.w.Queue.Scans(queue.ScanFilter{Installation: t.job.Installation, Repository: t.job.Repository, Pull: t.job.Pull}) {
		if s.Kind == queue.KindPull && s.HasReport && s.State == queue.Completed {
			return s, true
		}
	}
	return queue.Scan{}, false
}
