package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// orphaned is how long a scan may be without a job before it counts as failed: its last write
// may arrive shortly after the end of its job.
const orphaned = time.Hour

// Prune removes what is older than Config.KeepAge, the oldest ended scans beyond
// Config.KeepScans, and the oldest reports beyond Config.KeepBytes. Scans whose jobs are gone
// become failed.
func (q *Queue) Prune(ctx context.Context) error {
	return errors.Join(q.pruneReports(ctx, q.config.KeepBytes), q.pruneScans(ctx), q.pruneDead(ctx))
}

// makeRoom removes the oldest reports if their total size exceeds Config.KeepBytes.
func (q *Queue) makeRoom(ctx context.Context) error {
	status, err := q.reports.Status(ctx)
	if err != nil {
		return fmt.Errorf("asking for the reports' size: %w", err)
	}
	if status.Size() <= uint64(q.config.KeepBytes) {
		return nil
	}
	// Leave some space, so that not every following report has to do this.
	return q.pruneReports(ctx, q.config.KeepBytes*9/10)
}

// pruneReports removes reports older than KeepAge, and the oldest until the rest take most bytes,
// and updates the scan records of removed reports.
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
	return q.correctReports(ctx, kept, reports)
}

// correctReports updates scan records whose report is gone. Reports stored after the list was made
// are looked up.
func (q *Queue) correctReports(ctx context.Context, kept map[string]bool, listed []*jetstream.ObjectInfo) error {
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

// pruneScans removes old records and those beyond KeepScans, and marks scans whose jobs are gone
// as failed. Scans with a job stay.
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

// pruneScan prunes a scan that has no job. tooMany is set if KeepScans newer ones have ended.
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

// pruneDead removes old dead letters, and the oldest beyond mostDead.
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

// pruneWhenFull removes the oldest ended scans as soon as there are too many, until the queue is
// closed. Prune would come too late when very many end.
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

// pruneAlone runs pruneScans unless another replica does.
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
