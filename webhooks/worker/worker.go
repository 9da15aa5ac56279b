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

// credentialsRest is how long no job is taken after GitHub refused the App's credentials:
// as long as the service takes to look for others.
const credentialsRest = 15 * time.Second

// Forks says what is done with pull requests from forks. Nothing of a fork is executed
// in any case: it is read, in a jail.
type Forks string

// The policies for forks.
const (
	// ForksOn judges them like others.
	ForksOn Forks = "on"
	// ForksOff judges none, and says so in a neutral check run.
	ForksOff Forks = "off"
	// ForksApprove judges the commit that somebody with write access asked for with the
	// command "/preadmit rescan SHA", and says so until then in a check run that requires
	// this action, and so blocks a merge where it is required.
	ForksApprove Forks = "approve"
)

// FetchLimits bound what is fetched for one job.
type FetchLimits struct {
	gittree.Limits
	// Time bounds one fetch.
	Time time.Duration
}

// Scanner scans a change; *jailed.Scanner is one.
type Scanner interface {
	Scan(ctx context.Context, request jailed.Request, progress jailed.Progress) (*jailed.Outcome, error)
}

// Config says what a worker works with. Queue, App and Scanner must be given.
type Config struct {
	Queue   *queue.Queue
	App     *app.App
	Scanner Scanner
	// Concurrency is the number of jobs at a time, 2 when 0.
	Concurrency int
	// Drain is how long jobs may go on after Run's context ended, 30 seconds when 0. What
	// is not done then goes back to the queue.
	Drain time.Duration
	// Forks is ForksOn when empty.
	Forks Forks
	// PublicURL is the root of the service's pages, without a slash at the end. When it is
	// empty, check runs have no details URL.
	PublicURL string
	// Name is that of the check run, github.DefaultName when empty.
	Name string
	// Version is preadmit's own, for reports.
	Version string
	// Limits bound fetches. Zero fields take their defaults: 1 GiB, 1,000,000 objects,
	// 100 MiB an object, 4 GiB unpacked, 2 minutes.
	Limits FetchLimits
	// TempDir is where fetched repositories are until they are scanned; the system's when
	// empty. What a process left there that ended without a word is removed at start.
	TempDir string
	// MergeWait is how long a worker waits for GitHub to make a merge commit, 5 seconds
	// when 0, and MergePatience how long a job does in all, while others are done: 3 minutes
	// when 0.
	MergeWait, MergePatience time.Duration
	// LimitWait is how long a job waits that GitHub's limits stopped without saying until
	// when, 1 minute when 0: what GitHub asks for.
	LimitWait time.Duration
	// GitURL returns the URL to fetch a repository from; when nil it is below the App's WebURL.
	GitURL func(owner, repo string) string
	// Transport makes the requests of fetches; nil means http.DefaultTransport.
	Transport http.RoundTripper
	// Clock waits between requests to GitHub, and for credentials; nil is the system's.
	Clock github.Clock
	// Log receives what happens; nil discards it.
	Log *slog.Logger
	// Metrics counts scans, and Jail what dies of them; nil counts nothing.
	Metrics *metrics.Worker
	Jail    *metrics.Jail
	// Now is the clock; nil is time.Now.
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

// Worker works on jobs.
type Worker struct {
	Config
	workDir *workDir // for fetched repositories, while Run runs
}

// New makes a worker. It does nothing before Run.
func New(c Config) *Worker { return &Worker{Config: c.withDefaults()} }

// errStopped ends jobs that are not done when the process has to end.
var errStopped = errors.New("the service stops")

// Run takes jobs and works on them until ctx ends, and then waits for those at work for
// as long as Drain. Those that are not done go back to the queue. Its error is one of the
// directory for fetched repositories.
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

// slot works on one job after the other. No new one is taken after ctx; work ends those
// that were taken.
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

// next waits for a job until ctx ends. The job itself goes on until work ends; release is
// called after it.
func (w *Worker) next(ctx, work context.Context) (claim *queue.Claim, release func(), err error) {
	waiting, stop := context.WithCancelCause(work)
	unhook := context.AfterFunc(ctx, func() { stop(errStopped) })
	claim, err = w.Queue.Next(waiting)
	unhook() // if ctx ended just now, the job is given back
	if err != nil {
		stop(nil)
		return nil, nil, err
	}
	return claim, func() { stop(nil) }, nil
}

// work brings one job to its end. Its error is why the job was not done.
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

// restAfter takes no job for a while when GitHub refused the App's credentials: until there
// are others, no other job would fare better.
func (w *Worker) restAfter(ctx context.Context, err error) {
	if errors.Is(err, app.ErrCredentials) {
		w.Log.Error("jobs wait for credentials that GitHub takes", "error", err)
		_ = w.Clock.Sleep(ctx, credentialsRest) // shorter if ctx ends
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
