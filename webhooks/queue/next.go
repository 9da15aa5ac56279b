package queue

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"
)

// errTaken means that another replica claimed the job, or that the job no longer exists.
var errTaken = errors.New("taken")

// Next waits for a job and claims it. Installations with pending jobs take turns; the jobs
// of one are handed out in the order in which they came. A job is not handed out while its
// subject has a holder.
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
		if t.value.Holder != nil {
			err := q.cutOff(ctx, t)
			q.schedule.endClaim(t)
			if err := q.refused(ctx, t, err); err != nil {
				return nil, err
			}
			continue
		}
		claim, err := q.claim(ctx, t)
		q.schedule.endClaim(t)
		if err == nil {
			return claim, nil
		}
		if err := q.refused(ctx, t, err); err != nil {
			return nil, err
		}
	}
}

// refused logs err and waits a second, unless the job was taken.
func (q *Queue) refused(ctx context.Context, t *pendingJob, err error) error {
	if err == nil || errors.Is(err, errTaken) {
		return nil
	}
	q.config.Log.Warn("a job could not be claimed; trying again", "subject", t.key, "err", err)
	return q.await(ctx, time.Second, nil)
}

// cutOff removes a holder whose lease expired. If its process also worked on other jobs, this one
// is not blamed, but is worked on alone from then on. If it was worked on alone, it rests, so
// that others are worked on.
// The scan becomes queued only after the holder was removed: what this process knows may be
// outdated, and the holder may be alive, or may have ended the job and recorded the result.
func (q *Queue) cutOff(ctx context.Context, t *pendingJob) error {
	gone := t.value
	_, _, err := q.jobs.change(ctx, t.key, "", func(now *record) (*record, error) {
		if now == nil || now.Holder == nil || *now.Holder != *gone.Holder {
			return nil, errTaken
		}
		return now.with(func(r *record) { r.cutOff(q.owner, q.now(), q.config) }), nil
	})
	if err != nil || !gone.working(gone.Job.ID) {
		return err
	}
	return q.requeue(ctx, gone.Job, gone.Attempt, "the process that worked on it ended")
}

// cutOff removes the expired holder from the record. If owner, this process, was the holder, it
// gave up the claim since nothing could be stored; no process ended.
func (r *record) cutOff(owner string, now time.Time, c Config) {
	gone := r.Holder
	r.Holder = nil
	if gone.Job != r.Job.ID || gone.Owner == owner {
		return
	}
	r.Alone = true
	if gone.Alone {
		r.Fatal++
		r.NotBefore = now.Add(c.backoff(r.Fatal))
	}
}

// await waits until news is closed, but not longer than wait.
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

// claim claims a picked job.
func (q *Queue) claim(ctx context.Context, t *pendingJob) (*Claim, error) {
	id := rand.Text()
	e, _, err := q.jobs.change(ctx, t.key, "", func(now *record) (*record, error) {
		if now == nil || now.Holder != nil || now.NotBefore.After(q.now()) || now.Alone && !t.value.Alone {
			return nil, errTaken
		}
		return now.with(func(r *record) {
			r.Holder = &holder{Owner: q.owner, Claim: id, Job: r.Job.ID, Alone: t.value.Alone}
			r.Attempt++
			r.NotBefore = time.Time{}
		}), nil
	})
	if err != nil {
		if ctx.Err() != nil {
			q.unclaim(ctx, t.key, id)
		}
		return nil, err
	}
	c := q.hold(ctx, e, id)
	if err := q.begin(ctx, c, e); err != nil {
		return nil, errors.Join(err, c.release(ctx, false))
	}
	if c.fatal >= 2*q.config.Attempts {
		// Even reporting the failure ends the process.
		return nil, errors.Join(errTaken, c.Bury(ctx, q.fatal(e.value)))
	}
	return c, nil
}

// unclaim withdraws a claim that may have been stored although its context ended before the
// response: nobody would work on it, and others would wait for the lease.
func (q *Queue) unclaim(ctx context.Context, key, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), publishWait)
	defer cancel()
	if e, err := q.jobs.read(ctx, key); err != nil || !e.value.holds(id) {
		return
	}
	_, _, _ = q.jobs.change(ctx, key, "", func(now *record) (*record, error) { // on an error it is free after the lease
		if !now.holds(id) {
			return nil, errUnchanged
		}
		return now.with(func(r *record) { r.Holder, r.Attempt = nil, r.Attempt-1 }), nil
	})
}

// hold returns the claim on a record that this process holds, and starts to renew its lease.
func (q *Queue) hold(ctx context.Context, e entry[record], id string) *Claim {
	c := &Claim{Job: e.value.Job, Attempt: e.value.Attempt, failed: e.value.Failed, fatal: e.value.Fatal, queue: q, key: e.key, id: id, stopped: make(chan struct{})}
	c.context, c.cancel = context.WithCancelCause(ctx)
	beating, stop := context.WithCancel(q.context)
	c.stop = stop
	q.schedule.track(c)
	c.update(q.jobs.at(e.key).value)
	go c.beat(beating)
	return c
}

// begin checks the limit and records the scan before the job is handed out.
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

// fatal returns the error of a job whose processes ended too often.
func (q *Queue) fatal(r *record) error {
	err := fmt.Errorf("the process died %d times while it worked only on this job", r.Fatal)
	if r.Why != "" {
		err = fmt.Errorf("%w; before that: %s", err, r.Why)
	}
	return err
}

// withinLimit returns errTaken if too many earlier claims of the installation exist, those of
// other replicas included. The stream decides the order.
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
