package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// maxWhy limits Scan.Why, in bytes.
const maxWhy = 1000

// recordOf returns the job's scan record. If it was removed, as old records are, it returns a new
// one.
func (t *task) recordOf(ctx context.Context) queue.Scan {
	have, err := t.w.Queue.Scan(ctx, t.job.ID)
	if err == nil {
		have.Attempt = t.claim.Attempt
		return have
	}
	if !errors.Is(err, queue.ErrNotFound) {
		t.log.Warn("read the scan's record", "error", err)
	}
	j := t.job
	return queue.Scan{
		ID: j.ID, Kind: j.Kind, Installation: j.Installation, Repository: j.Repository,
		Owner: j.Owner, Repo: j.Repo, Pull: j.Pull, Head: j.Head, Base: j.Base, Ref: j.Ref,
		State: queue.Running, Attempt: t.claim.Attempt, Reason: j.Reason, Created: j.Created, Started: t.w.Now(),
	}
}

// keep stores the scan record.
func (t *task) keep(ctx context.Context) error {
	if !t.job.Kind.Judges() {
		return nil
	}
	if err := t.w.Queue.PutScan(ctx, t.record); err != nil {
		return fmt.Errorf("keep the scan's record: %w", asStoreError(err))
	}
	return nil
}

// end stores the final state of the scan. why is one line for people.
func (t *task) end(ctx context.Context, state queue.State, why string) error {
	t.record.State, t.record.Why = state, oneLine(why)
	t.record.Stage, t.record.Done, t.record.Total = "", 0, 0
	t.record.Finished = t.w.Now()
	return t.keep(ctx)
}

// oneLine returns text on one line of bounded length, for a record.
func oneLine(s string) string {
	s = escape.Line(strings.Join(strings.Fields(s), " "))
	if len(s) <= maxWhy {
		return s
	}
	return strings.ToValidUTF8(s[:maxWhy], "") + "..."
}

// earlier returns the other records of the same subject, the newest first.
func (t *task) earlier() []queue.Scan {
	var out []queue.Scan
	for _, s := range t.w.Queue.Scans(queue.ScanFilter{Installation: t.job.Installation, Repository: t.job.Repository, Pull: t.job.Pull}) {
		if s.ID != t.job.ID && s.Kind == t.job.Kind && (s.Kind != queue.KindGroup || s.Head == t.job.Head) {
			out = append(out, s)
		}
	}
	return out
}

// lastStarted returns the newest of the earlier scans that were started, and so may have published
// something; ok is false when there is none.
func (t *task) lastStarted() (last queue.Scan, ok bool) {
	for _, s := range t.earlier() {
		if s.Attempt > 0 {
			return s, true
		}
	}
	return queue.Scan{}, false
}
