package queue_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/webhooks/queue"
)

// TestFairness: one job among a thousand of somebody else's is soon handed out.
func TestFairness(t *testing.T) {
	t.Parallel()
	q := open(t, queue.Config{})
	for i := range 1000 {
		enqueue(t, q, pull(1, i+1))
	}
	enqueue(t, q, pull(2, 1))
	for i := range 3 {
		c := next(t, q)
		if c.Job.Installation == 2 {
			return
		}
		if want := i + 1; c.Job.Pull != want {
			t.Errorf("got pull %d, want %d: jobs of an installation are in order", c.Job.Pull, want)
		}
	}
	t.Error("the other installation's job was not among the first three")
}

func TestPerInstallation(t *testing.T) {
	t.Parallel()
	q := open(t, queue.Config{PerInstallation: 2})
	for i := range 4 {
		enqueue(t, q, pull(1, i+1))
	}
	a, _ := next(t, q), next(t, q)
	none(t, q, 100*time.Millisecond)
	enqueue(t, q, pull(2, 1))
	if c := next(t, q); c.Job.Installation != 2 {
		t.Error("got", c.Job.Subject())
	}
	done(t, a)
	if c := next(t, q); c.Job.Pull != 3 {
		t.Error("got", c.Job.Subject())
	}
	none(t, q, 100*time.Millisecond)
}

func TestNextWakes(t *testing.T) {
	t.Parallel()
	q := open(t, queue.Config{})
	got := make(chan error, 1)
	go func() {
		_, err := q.Next(within(t, 60*time.Second)) // which looks again after an hour by itself
		got <- err
	}()
	time.Sleep(100 * time.Millisecond) // for Next to wait
	enqueue(t, q, pull(1, 1))
	if err := <-got; err != nil {
		t.Error("not handed out:", err)
	}
}

func TestBackoffAndDeath(t *testing.T) {
	t.Parallel()
	rest := 200 * time.Millisecond
	q := open(t, queue.Config{Attempts: 3, Backoff: []time.Duration{rest, 2 * rest}})
	a := enqueue(t, q, pull(1, 7))
	for attempt, wait := range []time.Duration{0, rest, 2 * rest} {
		start := time.Now()
		c := next(t, q)
		if took := time.Since(start); took < wait-5*time.Millisecond {
			t.Errorf("attempt %d after %s, want %s", attempt+1, took, wait)
		}
		if c.Attempt != attempt+1 || c.Job.ID != a.ID || c.Exhausted() {
			t.Errorf("attempt %d of %s, exhausted %v", c.Attempt, c.Job.ID, c.Exhausted())
		}
		dead, err := c.Retry(t.Context(), errors.New("out\nof luck"))
		if err != nil || dead != (attempt == 2) {
			t.Errorf("attempt %d: dead %v, %v", attempt+1, dead, err)
		}
	}
	none(t, q, 3*rest)
	wantStates(t, q, map[string]queue.State{a.ID: queue.Failed})
	if s, _ := q.Scan(t.Context(), a.ID); s.Why != "out of luck" || s.Attempt != 3 {
		t.Errorf("record: %+v", s)
	}
	wantStats(t, q, "0 pending, 0 running, 1 dead, 0 installations")
}

// TestPostpone: a job rests until the time that is said, and loses no attempt by it.
func TestPostpone(t *testing.T) {
	t.Parallel()
	q := open(t, queue.Config{Attempts: 1})
	a := enqueue(t, q, pull(1, 7))
	const rest = 300 * time.Millisecond
	for range 3 {
		c := next(t, q)
		if c.Attempt != 1 || c.Exhausted() {
			t.Errorf("attempt %d", c.Attempt)
		}
		if err := c.Postpone(t.Context(), time.Now().Add(rest), errors.New("the limit of the hour")); err != nil {
			t.Error(err)
		}
		if s, _ := q.Scan(t.Context(), a.ID); s.State != queue.Queued || s.Why != "the limit of the hour" {
			t.Errorf("record: %+v", s)
		}
		none(t, q, rest/2)
	}
	if err := next(t, q).Done(t.Context()); err != nil {
		t.Error(err)
	}
	b := enqueue(t, q, pull(1, 8))
	if err := next(t, q).Postpone(t.Context(), time.Now().Add(rest), errors.New("again")); err != nil {
		t.Error(err)
	}
	wantStates(t, q, map[string]queue.State{a.ID: queue.Completed, b.ID: queue.Queued})
}

func TestRevive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q := open(t, queue.Config{Dir: dir})
	a := enqueue(t, q, pull(1, 7))
	enqueue(t, q, pull(1, 8))
	for range 2 {
		if err := next(t, q).Bury(t.Context(), errors.New("no use")); err != nil {
			t.Fatal(err)
		}
	}
	shut(t, q)
	q = open(t, queue.Config{Dir: dir})
	letters, err := q.Dead(t.Context(), 0)
	if err != nil || len(letters) != 2 {
		t.Fatalf("letters: %+v, %v", letters, err)
	}
	if newest, _ := q.Dead(t.Context(), 1); len(newest) != 1 || newest[0].Job.Pull != 8 {
		t.Errorf("the newest letter: %+v", newest)
	}
	letter := letters[1]
	if letter.Why != "no use" || letter.Attempts != 1 || letter.Job.ID != a.ID || time.Since(letter.At) > time.Minute {
		t.Errorf("letter: %+v", letter)
	}
	b, err := q.Revive(t.Context(), letter.Sequence)
	if err != nil || b.ID == a.ID {
		t.Fatalf("revived as %+v, %v", b, err)
	}
	if _, err := q.Revive(t.Context(), letter.Sequence); !errors.Is(err, queue.ErrNotFound) {
		t.Error("revived twice:", err)
	}
	if c := next(t, q); c.Job.ID != b.ID || c.Attempt != 1 {
		t.Errorf("got %+v, attempt %d", c.Job, c.Attempt)
	}
	newer := enqueue(t, q, pull(1, 8))
	if got, err := q.Revive(t.Context(), letters[0].Sequence); err != nil || got.ID != newer.ID {
		t.Errorf("revived as %+v, %v; want the newer job", got, err)
	}
	wantStats(t, q, "1 pending, 1 running, 0 dead, 1 installations")
}

func TestRelease(t *testing.T) {
	t.Parallel()
	q := open(t, queue.Config{})
	a := enqueue(t, q, pull(1, 7))
	ctx, cancel := context.WithCancelCause(t.Context())
	c, err := q.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("draining")
	cancel(why)
	<-c.Context().Done()
	if cause := context.Cause(c.Context()); cause != why {
		t.Error("cause:", cause)
	}
	if err := c.Release(c.Context()); err != nil {
		t.Error(err)
	}
	wantStates(t, q, map[string]queue.State{a.ID: queue.Queued})
	if c := next(t, q); c.Attempt != 1 || c.Job.ID != a.ID {
		t.Errorf("attempt %d of %s", c.Attempt, c.Job.ID)
	}
}

// TestKillers: a job that ends its process each time becomes a dead letter, is handed out
// to be told about, and if even that ends the process is dropped.
func TestKillers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := queue.Config{Dir: dir, Attempts: 2}
	q := open(t, c)
	a := enqueue(t, q, pull(1, 7))
	for attempt := 1; attempt <= 4; attempt++ {
		claim := next(t, q)
		if claim.Attempt != attempt || claim.Exhausted() != (attempt > 2) {
			t.Errorf("attempt %d, exhausted %v; want attempt %d", claim.Attempt, claim.Exhausted(), attempt)
		}
		letters, _ := q.Dead(t.Context(), 0)
		if claim.Exhausted() != (len(letters) == 1) {
			t.Errorf("attempt %d: letters %+v", attempt, letters)
		}
		shut(t, q) // with the claim
		if cause := context.Cause(claim.Context()); cause != queue.ErrLost {
			t.Error("cause:", cause)
		}
		q = open(t, c)
	}
	none(t, q, 200*time.Millisecond)
	letters, _ := q.Dead(t.Context(), 0)
	if len(letters) != 1 || letters[0].Job.ID != a.ID || !strings.Contains(letters[0].Why, "died 2 times") {
		t.Errorf("letters: %+v", letters)
	}
	wantStates(t, q, map[string]queue.State{a.ID: queue.Failed})
	wantStats(t, q, "0 pending, 0 running, 1 dead, 0 installations")
}
