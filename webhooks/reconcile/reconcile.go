package reconcile

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/app"
	"github.com/preadmit/preadmit/webhooks/metrics"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// Queue has the jobs and scans: a queue.Queue.
type Queue interface {
	Enqueue(ctx context.Context, job queue.Job) (queue.Job, bool, error)
	Seen(ctx context.Context, guid string) (bool, error)
	Scans(f queue.ScanFilter) []queue.Scan
	CheckEnded(ctx context.Context, s queue.Scan) error
	Lock(ctx context.Context, name string) (held context.Context, release func(), err error)
}

// Config is the configuration of a reconciler. Queue and App are required.
type Config struct {
	Queue Queue
	App   *app.App
	// Name is the name of our check runs, github.DefaultName when empty.
	Name string
	// Every is the time between two passes, 5 minutes when 0.
	Every time.Duration
	// Log receives what was found; nil discards it.
	Log *slog.Logger
	// Metrics counts what was found; it may be nil.
	Metrics *metrics.Reconcile
	// Now returns the current time; time.Now when nil.
	Now func() time.Time
}

// Reconciler runs passes. It is for one goroutine.
type Reconciler struct {
	Config
	// listed is when all deliveries that GitHub keeps were examined last.
	listed time.Time
	// left is the time of the oldest delivery that a pass did not request because of its
	// limit, or because it ended early; zero if there was none.
	left time.Time
	// next is the id of the repository with which an installation's next pass begins.
	next map[int64]int64
	// judged are heads whose verdict is on GitHub, with the time of their last use.
	judged map[head]time.Time
	// ended are scans whose check runs GitHub does not let us complete, with the time of that.
	ended map[string]time.Time
}

// New returns a reconciler. It does nothing before Run or Pass.
func New(c Config) *Reconciler {
	c.Name = cmp.Or(c.Name, github.DefaultName)
	c.Every = cmp.Or(c.Every, 5*time.Minute)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Reconciler{Config: c, next: map[int64]int64{}, judged: map[head]time.Time{}, ended: map[string]time.Time{}}
}

const (
	// lockName is the lock of the replica that reconciles.
	lockName = "reconcile"
	// holdEvery is how often other replicas try to lock it.
	holdEvery = 15 * time.Second
)

// Run runs passes, at once and then periodically, whenever no other replica does. It ends
// with ctx, and returns its error.
func (r *Reconciler) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		held, release, err := r.Queue.Lock(ctx, lockName)
		if err == nil {
			r.passes(held)
			release()
		} else if !errors.Is(err, queue.ErrLocked) && ctx.Err() == nil {
			r.Log.Error("hold the reconciliation", "error", err)
		}
		rest(ctx, min(holdEvery, r.Every))
	}
	return ctx.Err()
}

// passes runs passes until ctx ends.
func (r *Reconciler) passes(ctx context.Context) {
	for ctx.Err() == nil {
		r.Pass(ctx)
		rest(ctx, r.Every)
	}
}

// rest waits for d, or until ctx ends.
func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// Outcomes of passes.
const (
	// Complete passes examined everything.
	Complete = "complete"
	// Limited passes left something for the next pass.
	Limited = "limited"
	// Failed passes had an error.
	Failed = "failed"
	// Stopped passes ended early because their context ended.
	Stopped = "stopped"
)

// Pass examines everything once, even if another replica does too, and returns the outcome.
// Failures are logged, and the rest is still examined.
func (r *Reconciler) Pass(ctx context.Context) string {
	began := r.Now()
	p := &pass{Reconciler: r, budget: newBudget(), outcome: Complete, stopped: ctx.Done()}
	p.failed("request failed deliveries", p.deliveries(ctx))
	p.failed("look for pull requests without a verdict", p.installations(ctx))
	p.failed("finish check runs", p.checks(ctx))
	r.forget(began.Add(-remember))
	r.Metrics.Pass(p.outcome, r.Now().Sub(began))
	return p.outcome
}

// remember is how long an answer of GitHub is used before the request is sent again.
const remember = 24 * time.Hour

// forget removes entries that were not used since a time.
func (r *Reconciler) forget(before time.Time) {
	for key, at := range r.judged {
		if at.Before(before) {
			delete(r.judged, key)
		}
	}
	for key, at := range r.ended {
		if at.Before(before) {
			delete(r.ended, key)
		}
	}
}

// pass is the state of one pass.
type pass struct {
	*Reconciler
	*budget
	outcome string
	stopped <-chan struct{}
}

// failed logs a non-nil error, unless the repository's owner caused it.
func (p *pass) failed(doing string, err error, about ...any) {
	if err == nil {
		return
	}
	select {
	case <-p.stopped: // all requests fail from now on
		p.outcome = Stopped
		return
	default:
	}
	if unwilling(err) {
		p.Log.Debug(doing, append(about, "error", err)...)
		return
	}
	p.outcome = Failed
	p.Log.Error(doing, append(about, "error", err)...)
}

// limited records that something is left for the next pass.
func (p *pass) limited(why string, about ...any) {
	if p.outcome == Complete {
		p.outcome = Limited
	}
	p.Log.Info(why, about...)
}
