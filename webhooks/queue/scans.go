package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Scan returns the scan named id, or ErrNotFound.
func (q *Queue) Scan(ctx context.Context, id string) (Scan, error) {
	// Another replica may have stored it a moment ago.
	for try := 0; ; try++ {
		s, found := q.index.at(id)
		switch {
		case found:
			return s, nil
		case q.schedule.alone || try == 5 || !pause(ctx, 40*time.Millisecond):
			return s, fmt.Errorf("scan %.64q: %w", id, ErrNotFound)
		}
	}
}

// StoredScan returns the record of a scan of a repository, or ErrNotFound. It reads from the
// server, which may have records of other replicas that Scan does not know yet.
func (q *Queue) StoredScan(ctx context.Context, installation, repository int64, id string) (Scan, error) {
	if err := checkID(id); err != nil {
		return Scan{}, fmt.Errorf("scan %.64q: %w", id, ErrNotFound)
	}
	ctx, cancel := withPatience(ctx, writeWait)
	defer cancel()
	e, err := q.scans.getPatiently(ctx, Scan{Installation: installation, Repository: repository, ID: id}.key())
	if err == nil && e.value == nil {
		err = fmt.Errorf("scan %.64q: %w", id, ErrNotFound)
	}
	if err != nil {
		return Scan{}, err
	}
	return *e.value, nil
}

// Scans returns the scans that match f, the newest first. It reads from memory: changes of other
// replicas appear some milliseconds later.
func (q *Queue) Scans(f ScanFilter) []Scan { return q.index.list(f) }

// WatchScan returns a channel with the scan's current state and then its changes; unread changes
// are replaced by the last one. The channel is closed when ctx ends or the scan is removed.
func (q *Queue) WatchScan(ctx context.Context, id string) (<-chan Scan, error) {
	if _, err := q.Scan(ctx, id); err != nil {
		return nil, err
	}
	changes, stop := q.index.watch(id)
	if changes == nil {
		return nil, fmt.Errorf("scan %.64q: %w", id, ErrNotFound)
	}
	context.AfterFunc(ctx, stop)
	return changes, nil
}

// PutScan stores the record of a scan. HasReport, CheckEnded and Created keep their stored values.
// A scan that is over stays so until its job is claimed again: until then, storing that it is
// running returns ErrSuperseded or ErrLost, and so does storing a scan that was removed, as
// Forget does.
func (q *Queue) PutScan(ctx context.Context, s Scan) error {
	if err := checkID(s.ID); err != nil {
		return err
	}
	if s.Installation <= 0 || s.Repository <= 0 {
		return fmt.Errorf("scan %s of installation %d, repository %d: numbers must be positive", s.ID, s.Installation, s.Repository)
	}
	return q.changeScan(ctx, s, func(now *Scan) (*Scan, error) {
		if now == nil {
			if err := q.mayBegin(ctx, s); err != nil {
				return nil, err
			}
			now = &Scan{Created: q.createdOf(s)}
		}
		next := s
		next.Created, next.HasReport, next.CheckEnded = now.Created, now.HasReport, now.CheckEnded
		next.Attempt = max(s.Attempt, now.Attempt)
		switch {
		case now.State == Superseded && s.State != Superseded:
			return nil, ErrSuperseded
		case now.ID != "" && now.State.Over() && !s.State.Over(), s.Attempt > 0 && s.Attempt < now.Attempt:
			return nil, ErrLost
		case *now == next:
			return nil, errUnchanged
		}
		q.interner.shareScan(&next)
		return &next, nil
	})
}

// mayBegin returns ErrLost for a scan whose record was removed, unless its job still exists: its
// worker may not know yet that it was forgotten.
func (q *Queue) mayBegin(ctx context.Context, s Scan) error {
	ctx, cancel := withPatience(ctx, writeWait)
	defer cancel()
	had, err := q.scans.getPatiently(ctx, s.key())
	if err != nil || had.sequence == 0 || had.value != nil {
		return err
	}
	about := Job{Kind: s.Kind, Installation: s.Installation, Repository: s.Repository, Pull: s.Pull, Head: s.Head}
	job, err := q.jobs.getPatiently(ctx, about.Subject())
	if r := job.value; err == nil && (r == nil || r.Job.ID != s.ID && !r.working(s.ID)) {
		return ErrLost
	}
	return err
}

// createdOf returns the creation time of a scan without a record.
func (q *Queue) createdOf(s Scan) time.Time {
	known, found := q.index.at(s.ID)
	switch {
	case found:
		return known.Created
	case s.Created.IsZero():
		return q.now()
	}
	return s.Created.Round(0).UTC()
}

// changeScan changes the record of a scan.
func (q *Queue) changeScan(ctx context.Context, s Scan, do change[Scan]) error {
	_, _, err := q.scans.change(ctx, s.key(), "", do)
	switch {
	case err == nil || errors.Is(err, errUnchanged):
		return nil
	case errors.Is(err, ErrSuperseded) || errors.Is(err, ErrLost):
		return fmt.Errorf("scan %s: %w", s.ID, err)
	}
	return fmt.Errorf("storing scan %s: %w", s.ID, err)
}

// changeScanOf changes the record of a job's scan, if the job judges. Without a record, do gets
// the scan as derived from the job.
func (q *Queue) changeScanOf(ctx context.Context, j Job, do func(*Scan) bool) error {
	if !j.Kind.Judges() {
		return nil
	}
	return q.changeScan(ctx, scanOf(j), func(now *Scan) (*Scan, error) {
		next := scanOf(j)
		if now != nil {
			next = *now
		} else if err := q.mayBegin(ctx, next); err != nil {
			return nil, err
		}
		if !do(&next) {
			return nil, errUnchanged
		}
		return &next, nil
	})
}

// beginScan records that the claim's scan is running. It returns ErrLost if a later attempt has
// begun, because this process took longer than the lease.
func (q *Queue) beginScan(ctx context.Context, c *Claim) error {
	lost := false
	err := q.changeScanOf(ctx, c.Job, func(s *Scan) bool {
		if lost = s.Attempt > c.Attempt; lost {
			return false
		}
		s.State, s.Attempt, s.Started = Running, c.Attempt, q.now()
		s.Stage, s.Done, s.Total, s.Conclusion, s.Why, s.SupersededBy, s.Finished = "", 0, 0, "", "", "", time.Time{}
		s.CheckEnded = false
		return true
	})
	if lost {
		return fmt.Errorf("scan %s: %w", c.Job.ID, ErrLost)
	}
	return err
}

// CheckEnded records that s, which is over, has left no check run in progress, until its job is
// claimed again. s is the scan's state at the time of the GitHub request: if the scan has
// started again since, or was removed, nothing is recorded.
func (q *Queue) CheckEnded(ctx context.Context, s Scan) error {
	return q.changeScan(ctx, s, func(now *Scan) (*Scan, error) {
		if now == nil || !now.State.Over() || !now.Started.Equal(s.Started) || now.CheckEnded {
			return nil, errUnchanged
		}
		next := *now
		next.CheckEnded = true
		return &next, nil
	})
}

// requeue records that the scan of a job is queued again after an attempt.
func (q *Queue) requeue(ctx context.Context, j Job, attempt int, why string) error {
	return q.changeScanOf(ctx, j, func(s *Scan) bool {
		if s.Attempt != attempt || s.State == Superseded {
			return false
		}
		s.State, s.Why = Queued, why
		s.Stage, s.Done, s.Total, s.Conclusion, s.Finished = "", 0, 0, "", time.Time{}
		return true
	})
}

// conclude records the final state of the claim's scan, unless it is over already.
func (q *Queue) conclude(ctx context.Context, c *Claim, state State, why string) error {
	return q.changeScanOf(ctx, c.Job, func(s *Scan) bool {
		if s.Attempt != c.Attempt || s.State.Over() {
			return false
		}
		s.State, s.Finished = state, q.now()
		if why != "" {
			s.Why = why
		}
		return true
	})
}

// settle records replaced jobs' scans as superseded, except one that is still worked on and
// those that were removed meanwhile.
func (q *Queue) settle(ctx context.Context, r *record) error {
	if r == nil {
		return nil
	}
	for _, old := range r.Replaced {
		if r.working(old.Job.ID) || !q.index.unsettled(old) {
			continue
		}
		err := q.changeScanOf(ctx, old.Job, func(s *Scan) bool {
			if s.State == Completed || s.State == Failed || s.State == Superseded {
				return false
			}
			s.State, s.SupersededBy, s.Finished = Superseded, old.By, q.now()
			return true
		})
		if err != nil && !errors.Is(err, ErrLost) {
			return err
		}
	}
	return nil
}

// oneLine returns an error's text on one line of bounded length, for records.
func oneLine(err error) string {
	if err == nil {
		return "unknown"
	}
	text := strings.Join(strings.Fields(strings.ToValidUTF8(err.Error(), "?")), " ")
	if len(text) > 1000 {
		text = strings.ToValidUTF8(text[:1000], "") + "…"
	}
	return text
}
