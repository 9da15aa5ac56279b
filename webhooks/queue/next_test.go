package queue_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/preadmit/preadmit/webhooks/queue"
)

// TestFairness checks that a single job is claimed soon although another installation has a thousand.
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
		_, err := q.Next(within(t, 60*time.Second)) // which checks again after an hour without a change
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
	rest := time.Minute
	now, clock := clockAt(time.Now())
	q := open(t, queue.Config{Attempts: 3, Backoff: []time.Duration{rest, 2 * rest}, Now: clock})
	a := enqueue(t, q, pull(1, 7))
	for attempt, wait := range []time.Duration{0, rest, 2 * rest} {
		if wait > 0 {
			now.Add(int64(wait - 1))
			none(t, q, 50*time.Millisecond)
			now.Add(1)
		}
		c := next(t, q)
		if c.Attempt != attempt+1 || c.Job.ID != a.ID || c.Exhausted() {
			t.Errorf("attempt %d of %s, exhausted %v", c.Attempt, c.Job.ID, c.Exhausted())
		}
		dead, err := c.Retry(t.Context(), errors.New("out\nof luck"))
		if err != nil || dead != (attempt == 2) {
			t.Errorf("attempt %d: dead %v, %v", attempt+1, dead, err)
		}
	}
	now.Add(int64(time.Hour))
	none(t, q, 50*time.Millisecond)
	wantStates(t, q, map[string]queue.State{a.ID: queue.Failed})
	if s, _ := q.Scan(t.Context(), a.ID); s.Why != "out of luck" || s.Attempt != 3 {
		t.Errorf("record: %+v", s)
	}
	wantStats(t, q, "0 pending, 0 running, 1 dead, 0 installations")
}

// clockAt returns a clock that stands still at a time unless the test changes it.
func clockAt(at time.Time) (now *atomic.Int64, clock func() time.Time) {
	now = &atomic.Int64{}
	now.Store(at.UnixNano())
	return now, func() time.Time { return time.Unix(0, now.Load()) }
}

// TestPostpone checks that a job rests until the given time, and that the attempt does not count.
func TestPostpone(t *testing.T) {
	t.Parallel()
	now, clock := clockAt(time.Now())
	q := open(t, queue.Config{Attempts: 1, Now: clock})
	a := enqueue(t, q, pull(1, 7))
	const rest = time.Minute
	for range 3 {
		c := next(t, q)
		if c.Attempt != 1 || c.Exhausted() {
			t.Errorf("attempt %d", c.Attempt)
		}
		if err := c.Postpone(t.Context(), clock().Add(rest), errors.New("the limit of the hour")); err != nil {
			t.Error(err)
		}
		if s, _ := q.Scan(t.Context(), a.ID); s.State != queue.Queued || s.Why != "the limit of the hour" {
			t.Errorf("record: %+v", s)
		}
		now.Add(int64(rest - 1))
		none(t, q, 50*time.Millisecond)
		now.Add(1)
	}
	if err := next(t, q).Done(t.Context()); err != nil {
		t.Error(err)
	}
	b := enqueue(t, q, pull(1, 8))
	if err := next(t, q).Postpone(t.Context(), clock().Add(rest), errors.New("again")); err != nil {
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

// TestKillers checks that a job that ends its process each time, also when the process works on nothing
// else, becomes a dead letter, is handed out so that the failure is reported, and is dropped if even
// that ends the process.
func TestKillers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := queue.Config{Dir: dir, Attempts: 2, Backoff: []time.Duration{time.Millisecond}}
	q := open(t, c)
	a := enqueue(t, q, pull(1, 7))
	for attempt := 1; attempt <= 5; attempt++ { // the first does not count: other jobs could have been the cause
		claim := next(t, q)
		if claim.Attempt != attempt || claim.Exhausted() != (attempt > 3) {
			t.Errorf("attempt %d, exhausted %v; want attempt %d", claim.Attempt, claim.Exhausted(), attempt)
		}
		letters, _ := q.Dead(t.Context(), 0)
		if claim.Exhausted() != (len(letters) == 1) {
			t.Errorf("attempt %d: letters %+v", attempt, letters)
		}
		shut(t, q) // with the claim
		<-claim.Context().Done()
		if cause := context.Cause(claim.Context()); cause != queue.ErrLost {
			t.Error("cause:", cause)
		}
		q = open(t, c)
	}
	none(t, q, 200*time.Millisecond)
	letters, _ := q.Dead(t.Context(), 0)
	if len(letters) != 1 || letters[0].Job.ID != a.ID || !strings.Contains(letters[0].Why, "died 4 times while it worked only on this job") {
		t.Errorf("letters: %+v", letters)
	}
	wantStates(t, q, map[string]queue.State{a.ID: queue.Failed})
	wantStats(t, q, "0 pending, 0 running, 1 dead, 0 installations")
}

// TestAlone checks that jobs that were worked on when a process ended are worked on one by one, and
// that new jobs wait for their turn.
func TestAlone(t *testing.T) {
	t.Parallel()
	c := queue.Config{Dir: t.TempDir(), Attempts: 1}
	q := open(t, c)
	for i := range 3 {
		enqueue(t, q, pull(1, 1+i))
		next(t, q)
	}
	shut(t, q) // with three claims
	q = open(t, c)
	enqueue(t, q, pull(1, 9))
	for i := range 3 {
		claim := next(t, q)
		if claim.Job.Pull != 1+i || claim.Exhausted() {
			t.Errorf("pull request %d, exhausted %v", claim.Job.Pull, claim.Exhausted())
		}
		none(t, q, 100*time.Millisecond)
		done(t, claim)
	}
	last := next(t, q)
	enqueue(t, q, pull(1, 10))
	both := next(t, q)
	if last.Job.Pull != 9 || both.Job.Pull != 10 {
		t.Errorf("pull requests %d and %d", last.Job.Pull, both.Job.Pull)
	}
	done(t, last)
	done(t, both)
}

// TestAloneTakesItsTurn checks that a job that has to be worked on alone waits until the jobs in progress
// have ended, and that no other job goes first in the meantime.
func TestAloneTakesItsTurn(t *testing.T) {
	t.Parallel()
	c := queue.Config{Dir: t.TempDir(), Attempts: 2, Backoff: []time.Duration{300 * time.Millisecond}}
	q := open(t, c)
	suspect := enqueue(t, q, pull(1, 1))
	next(t, q)
	shut(t, q)
	q = open(t, c)
	if err := second(next(t, q).Retry(t.Context(), errors.New("x"))); err != nil { // it rests
		t.Fatal(err)
	}
	enqueue(t, q, pull(1, 2))
	other := next(t, q)
	enqueue(t, q, pull(1, 3))
	time.Sleep(350 * time.Millisecond)
	none(t, q, 100*time.Millisecond)
	done(t, other)
	claim := next(t, q)
	if claim.Job.ID != suspect.ID {
		t.Errorf("pull request %d", claim.Job.Pull)
	}
	none(t, q, 100*time.Millisecond)
	claim.Abandon()
	if third := next(t, q); third.Job.Pull != 3 {
		t.Errorf("pull request %d", third.Job.Pull)
	}
}

func second[T any](_ T, err error) error { return err }

// TestBystanders checks that jobs that are worked on beside a job that ends its processes are not blamed,
// however often that happens; only that job becomes a dead letter.
func TestBystanders(t *testing.T) {
	t.Parallel()
	c := queue.Config{Dir: t.TempDir(), Attempts: 2, Backoff: []time.Duration{time.Millisecond}}
	q := open(t, c)
	const killers, others = 3, 6
	var jobs []queue.Job
	for i := range killers + others {
		jobs = append(jobs, enqueue(t, q, pull(1, 1+i*7%(killers+others))))
	}
	deaths := 0
	for deadline := time.Now().Add(30 * time.Second); ; {
		if time.Now().After(deadline) {
			t.Fatal("it does not end")
		}
		var claims []*queue.Claim
		var killer *queue.Claim
		for range 3 { // workers
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			if claim, err := q.Next(ctx); err == nil {
				claims = append(claims, claim)
				if claim.Job.Pull <= killers && !claim.Exhausted() {
					killer = claim
				}
			}
			cancel()
		}
		if killer != nil {
			deaths++
			shut(t, q)
			q = open(t, c)
			continue
		}
		for _, claim := range claims {
			done(t, claim)
		}
		if stats, _ := q.Stats(t.Context()); stats.Pending+stats.Running == 0 {
			break
		}
	}
	want := map[string]queue.State{}
	for _, j := range jobs {
		want[j.ID] = queue.Completed
		if j.Pull <= killers {
			want[j.ID] = queue.Failed
		}
	}
	dead, _ := q.Dead(t.Context(), 0)
	t.Logf("%d deaths, %d dead letters", deaths, len(dead))
	for id, state := range want {
		s, err := q.Scan(t.Context(), id)
		if err != nil || state == queue.Completed && s.State != state || state == queue.Failed && !slices.ContainsFunc(dead, func(d queue.Dead) bool { return d.Job.ID == id }) {
			t.Errorf("pull request %d: %+v, %v, want %s", s.Pull, s, err, state)
		}
	}
	if len(dead) != killers || deaths > killers*4 {
		t.Errorf("%d dead letters of %d killers, %d deaths", len(dead), killers, deaths)
	}
}
