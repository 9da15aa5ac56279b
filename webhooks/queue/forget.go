package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Forget removes the jobs, dead letters, scans and reports of an installation's repositories;
// none means all of the installation. Jobs in progress are stopped. Jobs about the installation
// itself stay.
func (q *Queue) Forget(ctx context.Context, installation int64, repositories []int64) error {
	gone := func(i, r int64) bool {
		return i == installation && r != 0 && (len(repositories) == 0 || slices.Contains(repositories, r))
	}
	if err := q.synchronize(ctx); err != nil {
		return fmt.Errorf("forgetting installation %d: %w", installation, err)
	}
	for _, e := range q.jobs.all() {
		if !gone(e.value.Job.Installation, e.value.Job.Repository) {
			continue
		}
		if err := q.forgetJob(ctx, e.key); err != nil {
			return err
		}
	}
	for _, s := range q.index.list(ScanFilter{Installation: installation}) {
		if !gone(s.Installation, s.Repository) {
			continue
		}
		if err := q.dropScan(ctx, s); err != nil {
			return err
		}
	}
	for _, e := range q.dead.all() {
		if !gone(e.value.Job.Installation, e.value.Job.Repository) {
			continue
		}
		if err := q.dropDead(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// synchronize waits until this process knows what other replicas have written so far.
func (q *Queue) synchronize(ctx context.Context) error {
	if q.schedule.alone {
		return nil
	}
	ctx, cancel := withPatience(ctx, writeWait)
	defer cancel()
	return errors.Join(q.jobs.catchUp(ctx), q.scans.catchUp(ctx), q.dead.catchUp(ctx))
}

// forgetJob removes the job of a subject, and the scans that are derived from it.
func (q *Queue) forgetJob(ctx context.Context, key string) error {
	var had record
	_, _, err := q.jobs.change(ctx, key, "", func(now *record) (*record, error) {
		if now != nil {
			had = *now
		}
		return remove(now)
	})
	if err != nil && !errors.Is(err, errUnchanged) {
		return fmt.Errorf("dropping job %s: %w", key, err)
	}
	for _, old := range had.Replaced {
		if err := q.forgetScan(ctx, old.Job); err != nil {
			return err
		}
	}
	return q.forgetScan(ctx, had.Job)
}

// forgetScan removes the scan of a removed job. Without a record it stores a deletion all the
// same, so that a concurrent write by settle or a claim is rejected.
func (q *Queue) forgetScan(ctx context.Context, j Job) error {
	if !j.Kind.Judges() {
		return nil
	}
	if err := q.dropReport(ctx, j.ID); err != nil {
		return err
	}
	return q.changeScan(ctx, scanOf(j), func(*Scan) (*Scan, error) { return nil, nil })
}

// remove is the change that deletes an entry.
func remove[T any](now *T) (*T, error) {
	if now == nil {
		return nil, errUnchanged
	}
	return nil, nil
}
