package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// orphaned is how long a scan may be without a job before it counts as failed: its last
// write and its job's end may arrive a moment later.
const orphaned = time.Hour

// Prune drops what is older than is kept, the oldest scans that ended if there are too many,
// and the oldest reports if all take too much.
// Records of scans whose jobs are gone become failed.
func (q *Queue) Prune(ctx context.Context) error {
	return errors.Join(q.pruneReports(ctx, q.config.KeepBytes), q.pruneScans(ctx), q.pruneDead(ctx))
}

// makeRoom drops the oldest reports if all take too much.
func (q *Queue) makeRoom(ctx context.Context) error {
	status, err := q.reports.Status(ctx)
	if err != nil {
		return fmt.Errorf("asking for the reports' size: %w", err)
	}
	if status.Size() <= uint64(q.config.KeepBytes) {
		return nil
	}
	// Some more, so that not every report that follows has to.
	return q.pruneReports(ctx, q.config.KeepBytes*9/10)
}

// pruneReports drops old reports until the rest take most bytes, and updates the records of
// reports that are gone.
func (q *Queue) pruneReports(ctx context.Context, most int64) error {
	reports, err := q.reports.List(ctx)
	if err != nil && !errors.Is(err, jetstream.ErrNoObjectsFound) {
		return fmt.Errorf("listing reports: %w", err)
	}
	slices.SortFunc(reports, func(a, b *jetstream.ObjectInfo) int { return b.ModTime.Compare(a.ModTime) })
	kept, total := map[string]bool{}, int64(0)
	for _, r := range reports {
		total += int64(r.Size)
		if total <= most && q.now().Sub(r.ModTime) <= q.config.KeepAge {
			kept[r.Name] = true
		} else if err := q.dropReport(ctx, r.Name); err != nil {
			return err
		}
	}
	return q.tellReports(ctx, kept, reports)
}

// tellReports corrects records that say otherwise. A report that came after the list was
// made is none of its business.
func (q *Queue) tellReports(ctx context.Context, kept map[string]bool, listed []*jetstream.ObjectInfo) error {
	gone := map[string]bool{}
	for _, r := range listed {
		gone[r.Name] = !kept[r.Name]
	}
	for _, s := range q.index.records() {
		if !s.HasReport || kept[s.ID] {
			continue
		}
		if !gone[s.ID] {
			_, err := q.reports.GetInfo(ctx, s.ID)
			if !errors.Is(err, jetstream.ErrObjectNotFound) {
				continue
			}
		}
		if err := q.setHasReport(ctx, *s, false); err != nil {
			return err
		}
	}
	return nil
}

// pruneScans drops old records and those that are too many, and fails those whose jobs are
// gone. What has a job stays.
func (q *Queue) pruneScans(ctx context.Context) error {
	jobs := map[string]bool{}
	for _, e := range q.jobs.all() {
		jobs[e.value.Job.ID] = true
		if e.value.Holder != nil {
			jobs[e.value.Holder.Job] = true
		}
	}
	ended := 0
	for _, s := range q.index.records() {
		if s.State.Over() {
			ended++
		}
		if jobs[s.ID] {
			continue
		}
		if err := q.pruneScan(ctx, *s, ended > q.config.KeepScans); err != nil {
			return err
		}
	}
	return nil
}

// pruneScan is for a scan that has no job. tooMany says that as many as are kept are newer.
func (q *Queue) pruneScan(ctx context.Context, s Scan, tooMany bool) error {
	switch now := q.now(); {
	case now.Sub(s.Created) > q.config.KeepAge, tooMany && s.State.Over():
		return q.dropScan(ctx, s)
	case !s.State.Over() && now.Sub(s.Created) > orphaned && now.Sub(s.Started) > orphaned:
		return q.changeScan(ctx, s, func(stored *Scan) (*Scan, error) {
			if stored == nil || stored.State.Over() {
				return nil, errUnchanged
			}
			next := *stored
			next.State, next.Why, next.Finished = Failed, "its job is gone", now
			return &next, nil
		})
	}
	return nil
}

// dropScan removes a record and its report.
func (q *Queue) dropScan(ctx context.Context, s Scan) error {
	if err := q.dropReport(ctx, s.ID); err != nil {
		return err
	}
	return q.changeScan(ctx, s, remove[Scan])
}

// pruneDead drops old dead letters, and the oldest of too many.
func (q *Queue) pruneDead(ctx context.Context) error {
	letters := q.dead.all()
	slices.SortFunc(letters, func(a, b entry[Dead]) int { return b.value.At.Compare(a.value.At) })
	for i, e := range letters {
		if i < mostDead && q.now().Sub(e.value.At) <= q.config.KeepAge {
			continue
		}
		if err := q.dropDead(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// pruneWhenFull drops the oldest scans that ended as soon as there are too many, until the queue
// is closed. Prune would come too late when very many end.
func (q *Queue) pruneWhenFull() {
	for {
		select {
		case <-q.context.Done():
			return
		case <-q.index.full:
			if err := q.pruneAlone(q.context); err != nil && q.context.Err() == nil {
				q.config.Log.Warn("scans beyond those that are kept could not be dropped yet", "err", err)
			}
		}
	}
}

// pruneAlone leaves it to another replica if one is at it.
func (q *Queue) pruneAlone(ctx context.Context) error {
	if !q.schedule.alone {
		_, release, err := q.Lock(ctx, "few-scans")
		if errors.Is(err, ErrLocked) {
			return nil
		}
		if err != nil {
			return err
		}
		defer release()
	}
	return q.pruneScans(ctx)
}
