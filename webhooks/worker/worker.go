package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/preadmit/preadmit/render/tree/gittree"
	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/report/github/retry"
	"github.com/preadmit/preadmit/webhooks/app"
	"github.com/preadmit/preadmit/webhooks/jailed"
	"github.com/preadmit/preadmit/webhooks/metrics"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// credentialsRest is how long no job is claimed after GitHub rejected the App's credentials:
// the service checks for new ones at this interval.
const credentialsRest = 15 * time.Second

// Forks is the policy for pull requests from forks. Nothing of a fork is executed with any
// policy: it is only read, in a jail.
type Forks string

// The policies for forks.
const (
	// ForksOn judges them like others.
	ForksOn Forks = "on"
	// ForksOff judges none, and explains that in a neutral check run.
	ForksOff Forks = "off"
	// ForksApprove judges a commit after somebody with write access approved it with the
	// command "/preadmit rescan SHA". Until then the check run has the conclusion
	// action_required, which blocks a merge where the check is required.
	ForksApprove Forks = "approve"
)

// FetchLimits limit what is fetched for one job.
type FetchLimits struct {
	gittree.Limits
	// Time limits the duration of one fetch.
	Time time.Duration
}

// Scanner scans a change; *jailed.Scanner is one.
type Scanner interface {
	Scan(ctx context.Context, request jailed.Request, progress jailed.Progress) (*jailed.Outcome, error)
}

// Config is the configuration of a worker. Queue, App and Scanner are required.
type Config struct {
	Queue   *queue.Queue
	App     *app.App
	Scanner Scanner
	// Concurrency is the number of jobs at a time, 2 when 0.
	Concurrency int
	// Drain is how long jobs may continue after Run's context ended, 30 seconds when 0. Jobs
	// that have not ended by then return to the queue.
	Drain time.Duration
	// Forks is ForksOn when empty.
	Forks Forks
	// PublicURL is the root of the service's pages, without a slash at the end. When it is
	// empty, check runs have no details URL.
	PublicURL string
	// Name is the name of the check run, github.DefaultName when empty.
	Name string
	// Version is the version of preadmit, for reports.
	Version string
	// Limits limit fetches. Zero fields take their defaults: 1 GiB, 1,000,000 objects,
	// 100 MiB an object, 4 GiB unpacked, 2 minutes.
	Limits FetchLimits
	// TempDir is the directory for fetched repositories; the system's when empty. At start,
	// directories left in it by processes that crashed are removed.
	TempDir string
	// MergeWait is how long a worker waits for GitHub to create a merge commit, 5 seconds
	// when 0. MergePatience is how long a job waits for it in total, while other jobs are
	// processed: 3 minutes when 0.
	MergeWait, MergePatience time.Duration
	// LimitWait is how long a job waits after GitHub's rate limit stopped it without a time,
	// 1 minute when 0, as GitHub recommends.
	LimitWait time.Duration
	// GitURL returns the URL to fetch a repository from; nil uses a URL below the App's WebURL.
	GitURL func(owner, repo string) string
	// Transport sends the requests of fetches; nil means http.DefaultTransport.
	Transport http.RoundTripper
	// Clock waits between requests to GitHub, and for credentials; nil is the system's.
	Clock github.Clock
	// Log receives what happens; nil discards it.
	Log *slog.Logger
	// Metrics counts scans, and Jail the child processes that died; nil counts nothing.
	Metrics *metrics.Worker
	Jail    *metrics.Jail
	// Now returns the current time; nil is time.Now.
	Now func() time.Time
}

func (c Config) withDefaults() Config {
	c.Concurrency = cmp.Or(max(0, c.Concurrency), 2)
	c.Drain = cmp.Or(c.Drain, 30*time.Second)
	c.Forks = cmp.Or(c.Forks, ForksOn)
	c.Name = cmp.Or(c.Name, github.DefaultName)
	c.MergeWait = cmp.Or(c.MergeWait, 5*time.Second)
	c.MergePatience = cmp.Or(c.MergePatience, 3*time.Minute)
	c.LimitWait = cmp.Or(c.LimitWait, time.Minute)
	l := &c.Limits
	l.Bytes, l.Objects = cmp.Or(l.Bytes, 1<<30), cmp.Or(l.Objects, 1_000_000)
	l.Object, l.Unpacked = cmp.Or(l.Object, 100<<20), cmp.Or(l.Unpacked, 4<<30)
	l.Time = cmp.Or(l.Time, 2*time.Minute)
	if c.GitURL == nil {
		c.GitURL = func(owner, repo string) string { return c.App.WebURL() + "/" + owner + "/" + repo + ".git" }
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Clock == nil {
		c.Clock = retry.SystemClock{}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Worker processes jobs.
type Worker struct {
	Config
	workDir *workDir // for fetched repositories, while Run runs
}

// New returns a worker. It does nothing before Run.
func New(c Config) *Worker { return &Worker{Config: c.withDefaults()} }

// errStopped is the cause that ends unfinished jobs when the process has to stop.
var errStopped = errors.New("the service stops")

// Run claims and processes jobs until ctx ends, and then waits up to Drain for those in progress.
// Unfinished jobs return to the queue. It returns an error only if the directory for fetched
// repositories cannot be opened.
func (w *Worker) Run(ctx context.Context) error {
	dir, err := openWorkDir(w.TempDir)
	if err != nil {
		return fmt.Errorf("make room for fetched repositories: %w", err)
	}
	w.workDir = dir
	defer dir.close()
	work, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	var all sync.WaitGroup
	for range w.Concurrency {
		all.Go(func() { w.slot(ctx, work) })
	}
	<-ctx.Done()
	end := time.AfterFunc(w.Drain, func() { stop(errStopped) })
	defer end.Stop()
	all.Wait()
	return nil
}

// slot processes one job after the other. It claims none after ctx has ended; when work ends, the
// job in progress ends.
func (w *Worker) slot(ctx, work context.Context) {
	for ctx.Err() == nil {
		claim, release, err := w.next(ctx, work)
		switch {
		case err == nil:
			err = w.work(claim)
			release()
			w.restAfter(ctx, err)
		case ctx.Err() == nil:
			w.Log.Error("take a job", "error", err)
			rest(ctx, time.Second)
		}
	}
}

// next waits for a job until ctx ends. The context of the job ends with work instead; the caller
// calls release after the job.
func (w *Worker) next(ctx, work context.Context) (claim *queue.Claim, release func(), err error) {
	waiting, stop := context.WithCancelCause(work)
	unhook := context.AfterFunc(ctx, func() { stop(errStopped) })
	claim, err = w.Queue.Next(waiting)
	unhook() // if ctx ended just now, the job's context is cancelled and it returns to the queue
	if err != nil {
		stop(nil)
		return nil, nil, err
	}
	return claim, func() { stop(nil) }, nil
}

// work processes one job. It returns why the job was not done.
func (w *Worker) work(claim *queue.Claim) error {
	w.Metrics.Busy(1)
	defer w.Metrics.Busy(-1)
	began := w.Now()
	t := w.newTask(claim)
	err := t.run(claim.Context())
	t.settle(claim.Context(), err)
	w.Metrics.Job(string(claim.Job.Kind), w.Now().Sub(began))
	return err
}

// restAfter waits before the next job when GitHub rejected the App's credentials: every other job
// would fail as well.
func (w *Worker) restAfter(ctx context.Context, err error) {
	if errors.Is(err, app.ErrCredentials) {
		w.Log.Error("jobs wait for credentials that GitHub takes", "error", err)
		_ = w.Clock.Sleep(ctx, credentialsRest) // ends early if ctx ends
	}
}

// rest waits for d, or until ctx ends.
func rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
