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

// Enqueue stores a job; it is durable on return. A job of the same subject that is there
// is replaced: one that waits is not done, and one that is worked on is stopped. Its
// scan record becomes superseded. fresh is false if the job's delivery brought the
// subject's job already: then nothing changed.
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
		return j, true, nil // it came and went
	}
	q.settleSoon(ctx, e)
	return e.value.Job, true, nil
}

// settleSoon has the scans of replaced jobs recorded, which nobody has to wait for: until then
// they are known from the record, and the claim of the job makes sure.
func (q *Queue) settleSoon(ctx context.Context, e entry[record]) {
	switch n := len(e.value.Replaced); {
	case n == 0:
	case n >= mostReplaced:
		q.trySettle(ctx, e.value)
	default:
		select {
		case q.unsettled <- e.key:
		default: // There are more than can be written; the record keeps them.
		}
	}
}

// settleAll does what settleSoon left to do, until the queue is closed.
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

// complete fills in what Enqueue makes, and refuses what cannot be stored.
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

// deliveryOf names a job by its delivery: one delivery may bring jobs of several subjects.
func deliveryOf(j Job) string {
	if j.Delivery == "" {
		return ""
	}
	return j.Delivery + "/" + j.Subject()
}

// checkID refuses ids that would not be one part of a subject.
func checkID(id string) error {
	odd := func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '-'
	}
	if id == "" || len(id) > 64 || strings.ContainsFunc(id, odd) {
		return fmt.Errorf("%.64q is no id: want 1 to 64 letters, digits and '-'", id)
	}
	return nil
}

// now is the time, without what only this process can compare.
func (q *Queue) now() time.Time { return q.config.Now().Round(0).UTC() }
