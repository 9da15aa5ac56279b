package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Forget drops the jobs, dead letters, scans and reports of an installation's repositories;
// none means all of the installation. Jobs that are being worked on are told to stop. Jobs
// that are about the installation itself stay.
func (q *Queue) Forget(ctx context.Context, installation int64, repositories []int64) error {
	gone := func(i, r int64) bool {
		return i == installation && r != 0 && (len(repositories) == 0 || slices.Contains(repositories, r))
	}
	for _, e := range q.jobs.all() {
		if !gone(e.value.Job.Installation, e.value.Job.Repository) {
			continue
		}
		if _, _, err := q.jobs.change(ctx, e.key, "", remove[record]); err != nil && !errors.Is(err, errUnchanged) {
			return fmt.Errorf("dropping job %s: %w", e.key, err)
		}
	}
	for _, s := range q.book.list(ScanFilter{Installation: installation}) {
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

// remove is the change to nothing.
func remove[T any](now *T) (*T, error) {
	if now == nil {
		return nil, errUnchanged
	}
	return nil, nil
}
