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

// Queue is what is known of jobs: a queue.Queue.
type Queue interface {
	Enqueue(ctx context.Context, job queue.Job) (queue.Job, bool, error)
	Seen(ctx context.Context, guid string) (bool, error)
	Scans(f queue.ScanFilter) []queue.Scan
	CheckEnded(ctx context.Context, s queue.Scan) error
	Lock(ctx context.Context, name string) (held context.Context, release func(), err error)
}

// Config says what is reconciled. Queue and App must be given.
type Config struct {
	Queue Queue
	App   *app.App
	// Name is that of our check runs, github.DefaultName when empty.
	Name string
	// Every is the time between two passes, 5 minutes when 0.
	Every time.Duration
	// Log gets what was found; nil discards it.
	Log *slog.Logger
	// Metrics counts it; it may be nil.
	Metrics *metrics.Reconcile
	// Now is the clock; time.Now when nil.
	Now func() time.Time
}

// Reconciler makes passes. It is for one goroutine.
type Reconciler struct {
	Config
	// listed is when all deliveries that GitHub keeps were looked at last.
	listed time.Time
	// left is when the oldest delivery was made that a pass had no room for; zero when it
	// had room for all.
	left time.Time
	// next is the repository that an installation's next pass begins with, by its id.
	next map[int64]int64
	// judged are heads whose check GitHub has, and when they were last looked for.
	judged map[head]time.Time
	// ended are scans whose check runs GitHub does not let us see, and when that was found.
	ended map[string]time.Time
}

// New makes a reconciler. It does nothing before Run or Pass.
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
	// lockName is what the one replica holds that reconciles.
	lockName = "reconcile"
	// holdEvery is how often others try to take it.
	holdEvery = 15 * time.Second
)

// Run makes passes, at once and then every while, whenever no other replica does. It ends
// with ctx, and its error is that of ctx.
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

// passes makes passes until ctx ends.
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
	// Complete passes looked at everything.
	Complete = "complete"
	// Limited ones left repositories for the next pass.
	Limited = "limited"
	// Failed ones could not find out something.
	Failed = "failed"
	// Stopped ones were ended before they were done.
	Stopped = "stopped"
)

// Pass looks at everything once, also when another replica does, and returns the pass's outcome. What
// fails is logged, and does not keep the rest from being looked at.
func (r *Reconciler) Pass(ctx context.Context) string {
	began := r.Now()
	p := &pass{Reconciler: r, budget: newBudget(), outcome: Complete, stopped: ctx.Done()}
	p.failed("ask for failed deliveries", p.deliveries(ctx))
	p.failed("look for pull requests without a verdict", p.installations(ctx))
	p.failed("finish check runs", p.checks(ctx))
	r.forget(began.Add(-remember))
	r.Metrics.Pass(p.outcome, r.Now().Sub(began))
	return p.outcome
}

// remember is how long an answer of GitHub counts before the request is sent again.
const remember = 24 * time.Hour

// forget drops what was not looked for since a time.
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

// pass is one look at everything.
type pass struct {
	*Reconciler
	*budget
	outcome string
	stopped <-chan struct{}
}

// failed notes an error, if it is one, unless it is the will of the repository's owner.
func (p *pass) failed(doing string, err error, about ...any) {
	if err == nil {
		return
	}
	select {
	case <-p.stopped: // all requests fail now
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

// limited notes that something is left for the next pass.
func (p *pass) limited(why string, about ...any) {
	if p.outcome == Complete {
		p.outcome = Limited
	}
	p.Log.Info(why, about...)
}
