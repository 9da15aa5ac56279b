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

// The commands of comments, as package intake lets them through.
const (
	rescan  = "/preadmit rescan"
	explain = "/preadmit explain "
)

// leastNamed is how many digits of a commit's name name it.
const leastNamed = 7

// Reactions are what a comment is answered with. Nobody without write access gets words.
const (
	reactionSeen    = "eyes"
	reactionDone    = "+1"
	reactionRefused = "-1"
	reactionUnknown = "confused"
)

// command does what a comment on a pull request asks for. Who may ask, and that the
// comment still says so, GitHub is asked.
func (t *task) command(ctx context.Context) error {
	says, err := t.commentSays(ctx)
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

// commentSays reports whether the comment is still there, by the same person and with the
// same command.
func (t *task) commentSays(ctx context.Context) (bool, error) {
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
		return false, nil // nobody that the repository knows
	}
	return slices.Contains([]string{"admin", "maintain", "write"}, level.GetPermission()), err
}

// react answers with an emoji. GitHub keeps one of each kind, so that it may be asked
// for again.
func (t *task) react(ctx context.Context, emoji string) error {
	_, _, err := t.client().Reactions.CreateIssueCommentReaction(ctx, t.owner(), t.repo(), t.job.Comment, emoji)
	err = github.Explain("react to the comment", "pull-requests: write", err)
	if degrades(err) {
		t.log.Info("no reaction", "error", err)
		return nil
	}
	return err
}

// rescan has the pull request judged again as it is now. said is the beginning of the
// name of the commit that the sender means, "" without one: only what was named is
// approved, since the head may have changed after the sender looked at it.
func (t *task) rescan(ctx context.Context, said string) error {
	pr, err := t.askPull(ctx)
	if err != nil {
		return err
	}
	t.describe(pr)
	named := len(said) >= leastNamed && strings.HasPrefix(pr.head, said)
	approves := pr.fork && t.w.Forks == ForksApprove
	switch {
	case !pr.open(), said != "" && !named:
		return t.react(ctx, reactionUnknown)
	case approves && !named && !t.approved(pr): // the check run says what to write
		if err := t.completeAside(ctx); err != nil {
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

// explain answers with the finding of a number, of the newest report.
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

// reported is the newest scan of the pull request that has a report.
func (t *task) reported() (queue.Scan, bool) {
	for _, s := range t.w.Queue.Scans(queue.ScanFilter{Installation: t.job.Installation, Repository: t.job.Repository, Pull: t.job.Pull}) {
		if s.Kind == queue.KindPull && s.HasReport && s.State == queue.Completed {
			return s, true
		}
	}
	return queue.Scan{}, false
}
