package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	gogithub "github.com/google/go-github/v62/github"

	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/app"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// maxWait is the longest wait for a rate limit while a job is held. For longer waits the job
// returns to the queue.
const maxWait = time.Minute

// task processes one job.
type task struct {
	w      *Worker
	claim  *queue.Claim
	job    queue.Job
	log    *slog.Logger
	access *app.Access
	// record is the scan record of a job that judges, as it is stored.
	record queue.Scan
	// to and publication are set once the target of the verdict is known.
	to          *github.Publisher
	publication *github.Publication
	// dir is the directory of the fetched repository; "" before the fetch.
	dir string
}

func (w *Worker) newTask(claim *queue.Claim) *task {
	j := claim.Job
	t := &task{w: w, claim: claim, job: j, log: w.Log.With("job", j.ID, "kind", string(j.Kind), "subject", j.Subject(), "attempt", claim.Attempt)}
	if j.Repository != 0 {
		t.access = w.App.Repository(j.Installation, j.Repository)
	}
	return t
}

// run processes the job. A panic becomes an error: hostile input may have caused it, and other
// jobs must continue.
func (t *task) run(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			t.log.Error("panic", "value", escape.Line(fmt.Sprint(p)), "stack", string(debug.Stack()))
			err = errors.New("an internal error of preadmit: see its log")
		}
		if t.dir != "" {
			_ = os.RemoveAll(t.dir) // if this fails, it is removed at the end of the process
		}
	}()
	if t.access != nil {
		t.access.Recheck(ctx)
	}
	if t.job.Kind.Judges() {
		t.record = t.recordOf(ctx)
	}
	if t.claim.Exhausted() {
		return &finalError{errors.New("it was tried too often: the process that worked on it ended each time")}
	}
	switch t.job.Kind {
	case queue.KindPull:
		return t.pull(ctx)
	case queue.KindGroup:
		return t.group(ctx)
	case queue.KindPush:
		return t.push(ctx)
	case queue.KindCommand:
		return t.command(ctx)
	case queue.KindResolve:
		return t.resolve(ctx)
	case queue.KindInstallation:
		return t.installation(ctx)
	case queue.KindForget:
		return t.forget(ctx)
	}
	return &finalError{fmt.Errorf("this version knows no jobs of the kind %q", t.job.Kind)}
}

func (t *task) client() *gogithub.Client { return t.access.Client() }

// owner and repo return the repository's name, the one that GitHub returned if it is known.
func (t *task) owner() string { return cmp.Or(t.record.Owner, t.job.Owner) }
func (t *task) repo() string  { return cmp.Or(t.record.Repo, t.job.Repo) }

// detailsURL returns the URL of the scan's page, "" without pages or scan.
func (t *task) detailsURL() string {
	if !t.job.Kind.Judges() {
		return ""
	}
	return t.w.pageOf(t.job.ID)
}

// pageOf returns the URL of a scan's page, "" without pages.
func (w *Worker) pageOf(scan string) string {
	if w.PublicURL == "" {
		return ""
	}
	return w.PublicURL + "/scans/" + scan
}

// address returns a publisher for a commit. name is the name of the check run.
func (t *task) address(ctx context.Context, target github.Target, name string) (*github.Publisher, error) {
	login, err := t.w.App.Login(ctx)
	if err != nil {
		return nil, err
	}
	target.Owner, target.Repo, target.DetailsURL = t.owner(), t.repo(), t.detailsURL()
	return github.New(target, github.Options{
		Client: t.access.HTTP(), BaseURL: t.w.App.BaseURL(), Name: name, Login: login, Fresh: t.job.Fresh, Doubt: t.mayBeOfAnother,
		Rescan: app.ActionRescan, Clock: t.w.Clock, MaxWait: maxWait,
	})
}

// begin starts the check run. It stores the record with the commit first, so that a check run
// in progress can be found by the record after a crash.
func (t *task) begin(ctx context.Context, target github.Target, places github.Places) error {
	if err := t.keep(ctx); err != nil {
		return err
	}
	to, err := t.address(ctx, target, t.w.Name)
	if err != nil {
		return err
	}
	elsewhere := ""
	if url := t.detailsURL(); url != "" {
		elsewhere = "See " + url + "."
	}
	t.to, t.publication = to, github.NewPublication(to, places, elsewhere)
	t.publication.Start(ctx)
	if err := t.publication.Err(); err != nil {
		return err
	}
	t.record.CheckURL = to.CheckURL()
	return nil
}

// grace returns a context for what has to be stored and published after ctx ended.
func grace(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
}
