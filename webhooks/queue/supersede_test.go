package queue_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/preadmit/preadmit/webhooks/queue"
)

func TestSupersedePending(t *testing.T) {
	t.Parallel()
	q := open(t, queue.Config{})
	a := pull(1, 7)
	a.Fresh = true
	a = enqueue(t, q, a)
	other := enqueue(t, q, pull(1, 8))
	b := enqueue(t, q, pull(1, 7))
	c := enqueue(t, q, pull(1, 7))
	if !c.Fresh {
		t.Error("a fresh job was superseded by one that is not")
	}
	wantStates(t, q, map[string]queue.State{a.ID: queue.Superseded, b.ID: queue.Superseded, c.ID: queue.Queued, other.ID: queue.Queued})
	if s, err := q.Scan(t.Context(), a.ID); err != nil || s.SupersededBy != b.ID {
		t.Errorf("superseded by %q (%v), want %s", s.SupersededBy, err, b.ID)
	}
	got := next(t, q)
	if got.Job.ID != c.ID || !got.Job.Fresh {
		t.Errorf("got %+v; want the newest job, in the place of the oldest", got.Job)
	}
	done(t, got)
	if got := next(t, q); got.Job.ID != other.ID {
		t.Errorf("got %+v", got.Job)
	}
}

func TestSupersedeRunning(t *testing.T) {
	t.Parallel()
	for _, end := range []struct {
		name string
		call func(*queue.Claim) error
	}{
		{"done", func(c *queue.Claim) error { return c.Done(context.Background()) }},
		{"retry", func(c *queue.Claim) error {
			_, err := c.Retry(context.Background(), errors.New("stopped"))
			return err
		}},
		{"bury", func(c *queue.Claim) error { return c.Bury(context.Background(), errors.New("stopped")) }},
		{"release", func(c *queue.Claim) error { return c.Release(context.Background()) }},
		{"ended context", func(c *queue.Claim) error { return c.Done(c.Context()) }},
	} {
		t.Run(end.name, func(t *testing.T) {
			q := open(t, queue.Config{Attempts: 1})
			a := enqueue(t, q, pull(1, 7))
			old := next(t, q)
			b := enqueue(t, q, pull(1, 7))
			select {
			case <-old.Context().Done():
			case <-time.After(time.Second):
				t.Fatal("the claim does not know that its job was superseded")
			}
			if cause := context.Cause(old.Context()); cause != queue.ErrSuperseded {
				t.Error("cause:", cause)
			}
			none(t, q, 100*time.Millisecond) // the subject has a holder
			wantStates(t, q, map[string]queue.State{a.ID: queue.Running, b.ID: queue.Queued})
			wantStats(t, q, "1 pending, 1 running, 0 dead, 1 installations")
			if err := end.call(old); err != nil {
				t.Error(err)
			}
			wantStates(t, q, map[string]queue.State{a.ID: queue.Superseded, b.ID: queue.Queued})
			late := queue.Scan{ID: a.ID, Kind: a.Kind, Installation: 1, Repository: 10, State: queue.Running}
			if err := q.PutScan(t.Context(), late); !errors.Is(err, queue.ErrSuperseded) {
				t.Error("progress of a superseded scan:", err)
			}
			c := next(t, q)
			if c.Job.ID != b.ID || c.Attempt != 1 {
				t.Errorf("got job %s, attempt %d", c.Job.ID, c.Attempt)
			}
			done(t, c)
			wantStats(t, q, "0 pending, 0 running, 0 dead, 0 installations")
			wantStates(t, q, map[string]queue.State{a.ID: queue.Superseded, b.ID: queue.Completed})
		})
	}
}

// TestSupersedeAfterVerdict checks that a completed scan stays completed, although a newer job came
// before the claim ended.
func TestSupersedeAfterVerdict(t *testing.T) {
	t.Parallel()
	q := open(t, queue.Config{})
	a := enqueue(t, q, pull(1, 7))
	c := next(t, q)
	s, err := q.Scan(t.Context(), a.ID)
	if err != nil {
		t.Fatal(err)
	}
	s.State, s.Conclusion = queue.Completed, "success"
	if err := q.PutScan(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	b := enqueue(t, q, pull(1, 7))
	done(t, c)
	wantStates(t, q, map[string]queue.State{a.ID: queue.Completed, b.ID: queue.Queued})
}

func TestDuplicates(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q := open(t, queue.Config{Dir: dir})
	j := pull(1, 7)
	j.Delivery = "d-1"
	again := func(when string) {
		t.Helper()
		if _, fresh, err := q.Enqueue(t.Context(), j); fresh || err != nil {
			t.Errorf("%s: the same delivery again: fresh %v, %v", when, fresh, err)
		}
	}
	enqueue(t, q, j)
	again("pending")
	c := next(t, q)
	again("running")
	if c.Context().Err() != nil {
		t.Error("a duplicate stopped the work")
	}
	shut(t, q) // the server forgets the ids of replaced messages
	q = open(t, queue.Config{Dir: dir})
	again("running when the process died")
	done(t, next(t, q))
	j.Delivery = "d-2"
	enqueue(t, q, j)
	done(t, next(t, q))
	again("done")
	enqueue(t, q, pull(1, 7))
	again("a newer job pending")
	other := j
	other.Pull = 8
	enqueue(t, q, other) // a delivery may cause several jobs
	wantStats(t, q, "2 pending, 0 running, 0 dead, 1 installations")
}

func TestDeliveries(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q := open(t, queue.Config{Dir: dir})
	guids := []string{"5ad2c8a0-1b6f-11ef-9d4e-0242ac120002", "mark", "a b.*.>\n", ""}
	for _, guid := range guids {
		if seen, err := q.Seen(t.Context(), guid); seen || err != nil {
			t.Errorf("%q: seen %v, %v", guid, seen, err)
		}
		for range 2 {
			if err := q.Remember(t.Context(), guid, "push"); err != nil {
				t.Errorf("%q: %v", guid, err)
			}
		}
	}
	shut(t, q)
	q = open(t, queue.Config{Dir: dir})
	for _, guid := range guids {
		if seen, err := q.Seen(t.Context(), guid); !seen || err != nil {
			t.Errorf("%q: seen %v, %v", guid, seen, err)
		}
	}
}

func TestInstallationLists(t *testing.T) {
	t.Parallel()
	q := open(t, queue.Config{})
	job := func(kind queue.Kind, repositories ...int64) queue.Job {
		return queue.Job{Kind: kind, Installation: 1, Repositories: repositories}
	}
	enqueue(t, q, job(queue.KindInstallation, 3, 1))
	if j := enqueue(t, q, job(queue.KindInstallation, 2, 3)); len(j.Repositories) != 3 {
		t.Errorf("repositories of two events: %v", j.Repositories)
	}
	enqueue(t, q, job(queue.KindForget, 1))
	enqueue(t, q, job(queue.KindForget))
	enqueue(t, q, job(queue.KindInstallation)) // replaces that one
	wantStats(t, q, "3 pending, 0 running, 0 dead, 1 installations")
	if scans := q.Scans(queue.ScanFilter{}); len(scans) != 0 {
		t.Errorf("scans of jobs that judge nothing: %+v", scans)
	}
}

func TestBadJobs(t *testing.T) {
	t.Parallel()
	q := open(t, queue.Config{})
	for name, spoil := range map[string]func(*queue.Job){
		"kind":         func(j *queue.Job) { j.Kind = "x" },
		"installation": func(j *queue.Job) { j.Installation = 0 },
		"repository":   func(j *queue.Job) { j.Repository = 0 },
		"negative":     func(j *queue.Job) { j.Repository = -1 },
		"pull":         func(j *queue.Job) { j.Pull = 0 },
		"group":        func(j *queue.Job) { j.Kind, j.Head = queue.KindGroup, "a.b" },
		"resolve":      func(j *queue.Job) { j.Kind, j.Head = queue.KindResolve, "*" },
		"command":      func(j *queue.Job) { j.Kind = queue.KindCommand },
		"id":           func(j *queue.Job) { j.ID = "a.b" },
	} {
		j := pull(1, 7)
		spoil(&j)
		if _, _, err := q.Enqueue(t.Context(), j); err == nil {
			t.Errorf("%s: was taken: %+v", name, j)
		}
	}
	wantStats(t, q, "0 pending, 0 running, 0 dead, 0 installations")
}
