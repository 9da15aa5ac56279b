package queue

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"
)

// errTaken says that a job went to another replica, or is no longer there.
var errTaken = errors.New("taken")

// Next waits for a job and claims it. Installations with pending jobs take turns; the jobs
// of one are handed out in the order in which they came. A job is not handed out before
// whoever works on its subject let go.
//
// It returns an error only when ctx or the queue ends.
func (q *Queue) Next(ctx context.Context) (*Claim, error) {
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		t, wait, news := q.schedule.pick(q.now())
		if t == nil {
			if err := q.await(ctx, wait, news); err != nil {
				return nil, err
			}
			continue
		}
		claim, err := q.claim(ctx, t)
		q.schedule.endClaim(t.key)
		if err == nil {
			return claim, nil
		}
		if !errors.Is(err, errTaken) {
			q.config.Log.Warn("a job could not be claimed; trying again", "subject", t.key, "err", err)
			if err := q.await(ctx, time.Second, nil); err != nil {
				return nil, err
			}
		}
	}
}

// await waits for news, but not longer than wait.
func (q *Queue) await(ctx context.Context, wait time.Duration, news <-chan struct{}) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-q.context.Done():
		return errClosed
	case <-news:
	case <-timer.C:
	}
	return nil
}

// claim takes a job that was picked.
func (q *Queue) claim(ctx context.Context, t *pendingJob) (*Claim, error) {
	id := rand.Text()
	e, _, err := q.jobs.change(ctx, t.key, "", func(now *record) (*record, error) {
		if !t.still(now, q.now()) {
			return nil, errTaken
		}
		return now.with(func(r *record) {
			r.Holder = &holder{Owner: q.owner, Claim: id, Job: r.Job.ID}
			r.Attempt++
			r.NotBefore = time.Time{}
		}), nil
	})
	if err != nil {
		return nil, err
	}
	c := q.hold(ctx, e, id)
	if err := q.begin(ctx, c, e); err != nil {
		return nil, errors.Join(err, c.release(ctx, false))
	}
	if c.Attempt > 2*q.config.Attempts {
		// Even to tell about it kills the process.
		return nil, errors.Join(errTaken, c.Bury(ctx, q.fatal(e.value)))
	}
	return c, nil
}

// still reports whether the job that was picked may be claimed now that its record is known:
// that nobody holds it, or who does is whoever was found to be gone.
func (t *pendingJob) still(now *record, at time.Time) bool {
	if now == nil || now.NotBefore.After(at) {
		return false
	}
	return now.Holder == nil || t.value.Holder != nil && *t.value.Holder == *now.Holder
}

// hold makes the claim of a record that this process holds, and gives signs of life.
func (q *Queue) hold(ctx context.Context, e entry[record], id string) *Claim {
	c := &Claim{Job: e.value.Job, Attempt: e.value.Attempt, queue: q, key: e.key, id: id, stopped: make(chan struct{})}
	c.context, c.cancel = context.WithCancelCause(ctx)
	beating, stop := context.WithCancel(q.context)
	c.stop = stop
	q.schedule.track(c)
	c.heard(q.jobs.at(e.key).value)
	go c.beat(beating)
	return c
}

// begin does what comes with a claim before the job is handed out.
func (q *Queue) begin(ctx context.Context, c *Claim, e entry[record]) error {
	if err := q.withinLimit(ctx, e); err != nil {
		return err
	}
	if err := q.settle(ctx, e.value); err != nil {
		return err
	}
	if err := q.beginScan(ctx, c); err != nil {
		return err
	}
	if c.Exhausted() {
		return q.putDead(ctx, c.Job, q.fatal(e.value).Error(), c.Attempt-1)
	}
	if c.Attempt == 1 && !e.value.Begun {
		q.config.Metrics.Waited(q.now().Sub(c.Job.Created))
	}
	return nil
}

// fatal is why a job was tried too often: it ended its processes before they could say so.
func (q *Queue) fatal(r *record) error {
	if r.Why != "" {
		return fmt.Errorf("the process died while working on it; before that: %s", r.Why)
	}
	return fmt.Errorf("the process died %d times while working on it", q.config.Attempts)
}

// withinLimit refuses a claim if too many others of its installation were there before, on
// other replicas too. Which were before is what the stream says.
func (q *Queue) withinLimit(ctx context.Context, e entry[record]) error {
	if q.config.PerInstallation == 0 || q.schedule.alone {
		return nil
	}
	if err := q.jobs.reach(ctx, e.sequence); err != nil {
		return err
	}
	if q.schedule.heldBefore(e.value.Job.Installation, e.sequence) >= q.config.PerInstallation {
		return errTaken
	}
	return nil
}
