package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Forget drops the jobs, dead letters, scans and reports of an installation's repositories;
// none means all of the installation. Jobs that are being worked on are stopped. Jobs
// that are about the installation itself stay.
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

// synchronize takes over what other replicas have written so far.
func (q *Queue) synchronize(ctx context.Context) error {
	if q.schedule.alone {
		return nil
	}
	ctx, cancel := withPatience(ctx, writeWait)
	defer cancel()
	return errors.Join(q.jobs.catchUp(ctx), q.scans.catchUp(ctx), q.dead.catchUp(ctx))
}

// forgetJob drops the job of a subject, and the scans that are known from it.
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

// forgetScan drops the scan of a job that was dropped. Where there is no record yet it says
// so all the same: a write that is about to make one, of settle or a claim, is refused then.
func (q *Queue) forgetScan(ctx context.Context, j Job) error {
	if !j.Kind.Judges() {
		return nil
	}
	if err := q.dropReport(ctx, j.ID); err != nil {
		return err
	}
	return q.changeScan(ctx, scanOf(j), func(*Scan) (*Scan, error) { return nil, nil })
}

// remove is the change to nothing.
func remove[T any](now *T) (*T, error) {
	if now == nil {
		return nil, errUnchanged
	}
	return nil, nil
}
