package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// mostReplaced is how many replaced jobs a record may have before Enqueue waits until their
// scans are recorded.
const mostReplaced = 16

// Enqueue stores a job; it is durable on return. It replaces an existing job of the same subject:
// a waiting one is not done, and one in progress is stopped. Its scan record becomes superseded.
// fresh is false if the subject already has a job of the same delivery: then nothing changes.
func (q *Queue) Enqueue(ctx context.Context, j Job) (stored Job, fresh bool, err error) {
	if j, err = q.complete(j); err != nil {
		return j, false, err
	}
	outcome := "new"
	e, duplicate, err := q.jobs.change(ctx, j.Subject(), deliveryOf(j), func(now *record) (*record, error) {
		outcome = "new"
		switch {
		case now == nil:
			return &record{Job: j, Waiting: j.Created}, nil
		case now.Job.ID == j.ID:
			return nil, errUnchanged
		case j.Delivery != "" && now.Job.Delivery == j.Delivery:
			outcome = "duplicate"
			return nil, errUnchanged
		}
		outcome = "superseded"
		return now.supersede(j, j.Created, q.index.unsettled), nil
	})
	if err != nil && !errors.Is(err, errUnchanged) {
		return j, false, fmt.Errorf("storing job %s: %w", j.Subject(), err)
	}
	if duplicate || outcome == "duplicate" {
		q.config.Metrics.Enqueued(string(j.Kind), "duplicate")
		return j, false, nil
	}
	q.config.Metrics.Enqueued(string(j.Kind), outcome)
	if e.value == nil || e.value.Job.ID != j.ID {
		return j, true, nil // it is already done
	}
	q.settleSoon(ctx, e)
	return e.value.Job, true, nil
}

// settleSoon queues the recording of replaced jobs' scans, which no caller has to wait for: until
// then they are derived from the record, and claiming the job records them at the latest.
func (q *Queue) settleSoon(ctx context.Context, e entry[record]) {
	switch n := len(e.value.Replaced); {
	case n == 0:
	case n >= mostReplaced:
		q.trySettle(ctx, e.value)
	default:
		select {
		case q.unsettled <- e.key:
		default: // The channel is full; the record keeps the replaced jobs.
		}
	}
}

// settleAll records the scans that settleSoon queued, until the queue is closed.
func (q *Queue) settleAll() {
	for {
		select {
		case <-q.context.Done():
			return
		case key := <-q.unsettled:
			q.trySettle(q.context, q.jobs.at(key).value)
		}
	}
}

func (q *Queue) trySettle(ctx context.Context, r *record) {
	if err := q.settle(ctx, r); err != nil && q.context.Err() == nil {
		q.config.Log.Warn("a superseded scan could not be marked yet", "err", err)
	}
}

// complete sets the fields that Enqueue provides, and rejects invalid jobs.
func (q *Queue) complete(j Job) (Job, error) {
	if err := j.check(); err != nil {
		return j, err
	}
	q.interner.shareJob(&j)
	j.Created = q.now()
	if j.ID == "" {
		id, err := uuid.NewV7()
		if err != nil {
			return j, fmt.Errorf("making a job's id: %w", err)
		}
		j.ID = id.String()
	}
	return j, checkID(j.ID)
}

// deliveryOf returns the id of a job's write: one delivery may cause jobs of several subjects.
func deliveryOf(j Job) string {
	if j.Delivery == "" {
		return ""
	}
	return j.Delivery + "/" + j.Subject()
}

// checkID rejects ids that cannot be one part of a subject.
func checkID(id string) error {
	odd := func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '-'
	}
	if id == "" || len(id) > 64 || strings.ContainsFunc(id, odd) {
		return fmt.Errorf("%.64q is no id: want 1 to 64 letters, digits and '-'", id)
	}
	return nil
}

// now returns the time in UTC without the monotonic clock reading, as it is stored.
func (q *Queue) now() time.Time { return q.config.Now().Round(0).UTC() }
