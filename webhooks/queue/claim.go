package queue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// endWait is the timeout for storing the end of a claim.
const endWait = 30 * time.Second

// Claim is a job that this process works on. It ends with exactly one of Done, Retry, Postpone,
// Bury, Release and Abandon. These may be called after Context ended, and take effect even if
// their own context ends.
type Claim struct {
	// Job is the job that was claimed.
	Job Job
	// Attempt counts from 1.
	Attempt int

	failed, fatal int // those of the record
	queue         *Queue
	key, id       string
	context       context.Context
	cancel        context.CancelCauseFunc
	// stop ends the heartbeats, and stopped is closed after the last one.
	stop    context.CancelFunc
	stopped chan struct{}
	end     sync.Once
}

// Context returns a context that ends when the work has to stop. Its cause is ErrSuperseded,
// ErrLost, or that of the context Next was called with.
func (c *Claim) Context() context.Context { return c.context }

// Exhausted reports whether the job ended too many processes that worked on nothing else. It is a
// dead letter already; the worker only has to report the failure.
func (c *Claim) Exhausted() bool { return c.fatal >= c.queue.config.Attempts }

// Last reports whether Retry would make the job a dead letter.
func (c *Claim) Last() bool { return c.failed+1 >= c.queue.config.Attempts }

// update cancels the claim if it was lost or its job was superseded.
func (c *Claim) update(now *record) {
	switch {
	case !now.holds(c.id):
		c.cancel(ErrLost)
	case now.Job.ID != c.Job.ID:
		c.cancel(ErrSuperseded)
	}
}

// beat renews the claim's lease until ctx ends, and cancels the claim if that fails.
func (c *Claim) beat(ctx context.Context) {
	defer close(c.stopped)
	err := beat(ctx, c.queue.config.Lease, func(ctx context.Context) error {
		_, _, err := c.queue.jobs.change(ctx, c.key, "", func(now *record) (*record, error) {
			if !now.holds(c.id) {
				return nil, ErrLost
			}
			return now.with(func(r *record) { r.Holder = r.Holder.beat() }), nil
		})
		return err
	})
	if err != nil {
		c.queue.config.Log.Warn("a claim could not be kept", "subject", c.key, "id", c.Job.ID, "err", err)
	}
	if err != nil || c.queue.context.Err() != nil {
		c.cancel(ErrLost)
	}
}

// beat calls sign every third of the lease until ctx ends; then it returns nil. It returns an
// error when none succeeded for nearly a lease, or sign returned ErrLost.
func beat(ctx context.Context, lease time.Duration, sign func(context.Context) error) error {
	last := time.Now()
	for pause(ctx, lease/3) {
		begin := time.Now()
		deadline := last.Add(lease * 9 / 10)
		try, cancel := context.WithDeadline(ctx, deadline)
		err := sign(try)
		cancel()
		switch {
		case err == nil:
			last = begin
		case ctx.Err() != nil:
		case errors.Is(err, ErrLost) || !time.Now().Before(deadline):
			return err
		}
	}
	return nil
}

// Done ends a job that succeeded. A scan record that is not over becomes completed.
func (c *Claim) Done(ctx context.Context) error {
	_, err := c.finish(ctx, "done", func(ctx context.Context) error {
		return c.queue.conclude(ctx, c, Completed, "")
	}, nil)
	return err
}

// Retry returns a failed job to the queue for a later attempt. After the last attempt the job
// becomes a dead letter, and dead is true.
func (c *Claim) Retry(ctx context.Context, why error) (dead bool, err error) {
	if c.Last() {
		superseded, err := c.bury(ctx, why)
		return err == nil && !superseded, err
	}
	_, err = c.finish(ctx, "retry", func(ctx context.Context) error {
		return c.queue.requeue(ctx, c.Job, c.Attempt, oneLine(why))
	}, func(r *record) {
		r.Failed++
		r.Holder, r.Why = nil, oneLine(why)
		r.NotBefore = c.queue.now().Add(c.queue.config.backoff(r.Failed))
	})
	return false, err
}

// longestRest limits Postpone: GitHub's rate limits are per hour.
const longestRest = time.Hour

// Postpone returns the job to the queue until a time within the next hour, without counting the
// attempt, since the job is not the cause.
func (c *Claim) Postpone(ctx context.Context, until time.Time, why error) error {
	if latest := c.queue.now().Add(longestRest); until.After(latest) {
		until = latest
	}
	_, err := c.finish(ctx, "postponed", func(ctx context.Context) error {
		return c.queue.requeue(ctx, c.Job, c.Attempt, oneLine(why))
	}, func(r *record) {
		r.Holder, r.Why, r.Attempt, r.NotBefore, r.Begun = nil, oneLine(why), r.Attempt-1, until, true
	})
	return err
}

// Bury makes the job a dead letter at once. Its scan record becomes failed, unless it is over
// already.
func (c *Claim) Bury(ctx context.Context, why error) error {
	_, err := c.bury(ctx, why)
	return err
}

func (c *Claim) bury(ctx context.Context, why error) (superseded bool, err error) {
	return c.finish(ctx, "dead", func(ctx context.Context) error {
		if err := c.queue.conclude(ctx, c, Failed, oneLine(why)); err != nil {
			return err
		}
		return c.queue.putDead(ctx, c.Job, oneLine(why), c.Attempt)
	}, nil)
}

// Release returns the job to the queue as if it had not been claimed, since this process stops or
// cannot process any job now.
func (c *Claim) Release(ctx context.Context) error { return c.release(ctx, true) }

// release does the work of Release. begun is set if the job was handed out.
func (c *Claim) release(ctx context.Context, begun bool) error {
	_, err := c.finish(ctx, "released", func(ctx context.Context) error {
		return c.queue.requeue(ctx, c.Job, c.Attempt, "")
	}, func(r *record) { r.Holder, r.Attempt, r.Begun = nil, r.Attempt-1, r.Begun || begun })
	return err
}

// finish ends the claim: it calls before, then stores the record that leave modified, or removes
// the record if leave is nil. For a superseded claim it only removes the holder.
func (c *Claim) finish(ctx context.Context, outcome string, before func(context.Context) error, leave func(*record)) (superseded bool, err error) {
	err = fmt.Errorf("claim on job %s ended twice", c.Job.ID)
	c.end.Do(func() {
		c.queue.schedule.untrack(c)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWait)
		defer cancel()
		defer c.drop()
		superseded, err = c.storeEnd(ctx, before, leave)
		switch {
		case superseded:
			outcome = "superseded"
		case errors.Is(err, ErrLost):
			outcome = "lost"
		case err != nil:
			outcome = "failed"
		}
		c.queue.config.Metrics.Ended(outcome)
	})
	return superseded, err
}

// Abandon ends a claim without storing anything, like a lost one: the subject is free after the
// lease. It does nothing when the claim has ended already.
func (c *Claim) Abandon() {
	c.end.Do(func() {
		c.queue.schedule.untrack(c)
		c.drop()
		c.queue.config.Metrics.Ended("lost")
	})
}

// drop ends the heartbeats. Without them the subject is free after the lease even if storeEnd
// failed.
func (c *Claim) drop() {
	c.stop()
	<-c.stopped
	c.cancel(context.Canceled)
	c.queue.schedule.endWork(c.key)
}

// storeEnd calls before, and then stores the record. As long as the record is this claim's, what
// before stores is this claim's as well.
func (c *Claim) storeEnd(ctx context.Context, before func(context.Context) error, leave func(*record)) (superseded bool, err error) {
	now := c.queue.jobs.at(c.key).value
	switch {
	case !now.holds(c.id):
		return false, ErrLost
	case now.Job.ID == c.Job.ID:
		if err := before(ctx); err != nil {
			return false, err
		}
	}
	left, _, err := c.queue.jobs.change(ctx, c.key, "", func(now *record) (*record, error) {
		superseded = false
		switch {
		case !now.holds(c.id):
			return nil, ErrLost
		case now.Job.ID != c.Job.ID:
			superseded = true
			return now.with(func(r *record) { r.Holder = nil }), nil
		case leave == nil:
			return nil, nil
		}
		return now.with(leave), nil
	})
	if err != nil {
		return false, err
	}
	return superseded, c.queue.settle(ctx, left.value)
}
