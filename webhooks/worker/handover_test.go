package worker

import (
	"context"
	"testing"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// claimed claims the next job and returns its task.
func (w *env) claimed(kind queue.Kind) *task {
	w.t.Helper()
	claim, err := w.queue.Next(w.t.Context())
	w.must(err)
	w.want("claimed", claim.Job.Kind, kind)
	task := w.worker().newTask(claim)
	task.record = task.recordOf(w.t.Context())
	return task
}

// TestHandOverOfApproval checks that a job that finds another base while it works passes its approval of
// the head on to the new job.
func TestHandOverOfApproval(t *testing.T) {
	w := newEnv(t)
	w.config.Forks = ForksApprove
	w.fork()
	head := w.shop.Pull(2).HeadSHA
	w.approve(2)
	w.workOn(queue.KindCommand)
	approved := w.claimed(queue.KindPull)
	approved.settle(t.Context(), &overtaken{why: "another base", again: true, head: head})
	w.work()
	w.want("check runs", w.checks(head), []string{told})
	first := w.record(approved.job.ID)
	next := w.record(first.SupersededBy)
	w.want("records", []any{w.state(first.ID), w.state(next.ID)}, []any{"superseded cancelled", "completed failure"})
}

// TestHandOverOfOldApproval checks that a job that finds another head does not replace the approval of
// that head, whether it knows the newer job or not.
func TestHandOverOfOldApproval(t *testing.T) {
	for name, heard := range map[string]bool{"heard": true, "not heard": false} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			w.config.Forks = ForksApprove
			fork := w.fork()
			w.approve(2)
			w.workOn(queue.KindCommand)
			old := w.claimed(queue.KindPull)
			w.must(second(fork.Push("mine", githubtest.Files{"app/more.yaml": configMap("more", "fine")})))
			head := w.shop.Pull(2).HeadSHA
			w.approve(2)
			w.workOn(queue.KindCommand)
			ctx := context.Background()
			if heard {
				ctx = old.claim.Context()
				<-ctx.Done()
			}
			before := len(w.queue.Scans(queue.ScanFilter{}))
			old.settle(ctx, &overtaken{why: "another head", again: true, head: head})
			w.want("a job of its own", len(w.queue.Scans(queue.ScanFilter{})) > before, !heard)
			w.work()
			w.want("check runs", w.checks(head), []string{told})
		})
	}
}

// TestApprovalOutlivesReport checks that a judged commit stays approved when its report is removed.
func TestApprovalOutlivesReport(t *testing.T) {
	w := newEnv(t)
	w.config.Forks = ForksApprove
	w.fork()
	w.approve(2)
	w.work()
	w.must(w.queue.Close(context.Background()))
	w.queueConf.KeepBytes = 1
	w.openQueue()
	w.must(w.queue.Prune(t.Context()))
	w.must(w.queue.Close(context.Background()))
	w.queueConf.KeepBytes = 0
	w.openQueue()
	for _, s := range w.queue.Scans(queue.ScanFilter{Pull: 2}) {
		w.want("report of "+s.ID, s.HasReport, false)
	}
	w.enqueue(queue.Job{Pull: 2, Fresh: true, Reason: "check_run.rerequested"})
	w.work()
	head := w.shop.Pull(2).HeadSHA
	w.want("newest check run", w.newestCheckRun(head), told)
	w.want("scans", w.scanner.count(), 2)
}
