package queue_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/webhooks/queue"
)

func TestScans(t *testing.T) {
	t.Parallel()
	q := open(t, queue.Config{})
	var ids []string
	for _, j := range []queue.Job{
		pull(1, 1), pull(1, 2), pull(2, 1),
		{Kind: queue.KindPush, Installation: 1, Repository: 10, Head: "abc"},
	} {
		ids = append(ids, enqueue(t, q, j).ID)
	}
	done(t, next(t, q))
	for name, test := range map[string]struct {
		filter queue.ScanFilter
		want   []int
	}{
		"all":          {queue.ScanFilter{}, []int{3, 2, 1, 0}},
		"limit":        {queue.ScanFilter{Limit: 2}, []int{3, 2}},
		"before":       {queue.ScanFilter{Before: ids[2], Limit: 1}, []int{1}},
		"before none":  {queue.ScanFilter{Before: "x"}, nil},
		"installation": {queue.ScanFilter{Installation: 1}, []int{3, 1, 0}},
		"repository":   {queue.ScanFilter{Repository: 20}, []int{2}},
		"name":         {queue.ScanFilter{Owner: "O", Repo: "R"}, []int{2, 1, 0}},
		"owner":        {queue.ScanFilter{Owner: "O", Pull: 1}, []int{2, 0}},
		"no name":      {queue.ScanFilter{Owner: "o", Repo: "rr"}, nil},
		"pull":         {queue.ScanFilter{Pull: 1}, []int{2, 0}},
		"head":         {queue.ScanFilter{Head: "abc"}, []int{3}},
		"kinds":        {queue.ScanFilter{Kinds: []queue.Kind{queue.KindPull, queue.KindGroup}, Limit: 1}, []int{2}},
		"states":       {queue.ScanFilter{States: []queue.State{queue.Completed, queue.Failed}}, []int{0}},
	} {
		var got, want []string
		for _, s := range q.Scans(test.filter) {
			got = append(got, s.ID)
		}
		for _, i := range test.want {
			want = append(want, ids[i])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestPutScan(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q := open(t, queue.Config{Dir: dir})
	a := enqueue(t, q, pull(1, 7))
	claim := next(t, q)
	s := queue.Scan{ID: a.ID, Kind: a.Kind, Installation: 1, Repository: 10, State: queue.Running, Stage: "render", Done: 3, Total: 9, Title: "A change", Attempt: 1}
	put := func(s queue.Scan, want error) {
		t.Helper()
		if err := q.PutScan(t.Context(), s); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", s.State, err, want)
		}
	}
	put(s, nil)
	s.State, s.Denied, s.Conclusion = queue.Completed, 2, "failure"
	put(s, nil)
	late := s
	late.State = queue.Running
	put(late, queue.ErrLost)
	done(t, claim)
	shut(t, q)
	q = open(t, queue.Config{Dir: dir})
	got, err := q.Scan(t.Context(), a.ID)
	s.Created = a.Created
	if diff := cmp.Diff(s, got); diff != "" || err != nil {
		t.Errorf("%v (-put +got):\n%s", err, diff)
	}
	if _, err := q.Scan(t.Context(), "nobody"); !errors.Is(err, queue.ErrNotFound) {
		t.Error(err)
	}
	if err := q.PutScan(t.Context(), queue.Scan{ID: "a.b", Installation: 1, Repository: 1}); err == nil {
		t.Error("an id with a dot was taken")
	}
}

func TestWatchScan(t *testing.T) {
	t.Parallel()
	q := open(t, queue.Config{})
	a := enqueue(t, q, pull(1, 7))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	changes, err := q.WatchScan(ctx, a.ID)
	if err != nil {
		t.Fatal(err)
	}
	want := func(state queue.State) {
		t.Helper()
		select {
		case s, open := <-changes:
			if !open || s.State != state {
				t.Errorf("got %q (open %v), want %s", s.State, open, state)
			}
		case <-time.After(2 * time.Second):
			t.Error("nothing, want", state)
		}
	}
	want(queue.Queued)
	c := next(t, q)
	want(queue.Running)
	enqueue(t, q, pull(1, 7))
	done(t, c)
	want(queue.Superseded)
	cancel()
	if _, open := <-changes; open {
		t.Error("the channel is open after the context's end")
	}
	if _, err := q.WatchScan(t.Context(), "nobody"); !errors.Is(err, queue.ErrNotFound) {
		t.Error(err)
	}
}

func TestReports(t *testing.T) {
	t.Parallel()
	now := time.Now()
	q := open(t, queue.Config{KeepBytes: 1 << 20, Now: func() time.Time { return now }})
	var ids []string
	var last []byte
	for i := range 4 {
		id := enqueue(t, q, pull(1, i+1)).ID
		done(t, next(t, q))
		last = make([]byte, 300<<10) // does not compress
		if _, err := rand.Read(last); err != nil {
			t.Fatal(err)
		}
		if err := q.PutReport(t.Context(), id, last); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	has := func(want ...bool) {
		t.Helper()
		var got []bool
		for _, id := range ids {
			s, _ := q.Scan(t.Context(), id)
			report, err := q.Report(t.Context(), id)
			if s.HasReport != (err == nil) || err != nil && !errors.Is(err, queue.ErrNotFound) {
				t.Errorf("%s: has report %v, %v", id, s.HasReport, err)
			}
			if err == nil && id == ids[3] && !bytes.Equal(report, last) {
				t.Error("the report is not the one that was put")
			}
			got = append(got, s.HasReport)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("which have reports (-want +got):\n%s", diff)
		}
	}
	has(false, true, true, true) // the oldest was removed
	s, _ := q.Scan(t.Context(), ids[3])
	s.HasReport = false // only the queue sets it
	if err := q.PutScan(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	has(false, true, true, true)
	if err := q.PutReport(t.Context(), ids[3], []byte(`{"again": true}`)); err != nil {
		t.Fatal(err)
	}
	if report, err := q.Report(t.Context(), ids[3]); string(report) != `{"again": true}` {
		t.Errorf("%s, %v", report, err)
	}
	if err := q.PutReport(t.Context(), ids[3], append(last, make([]byte, 1<<20)...)); err != nil {
		t.Error(err)
	}
	tooLarge := make([]byte, 2<<20)
	rand.Read(tooLarge)
	if err := q.PutReport(t.Context(), ids[3], tooLarge); err == nil {
		t.Error("a report beyond all room was taken")
	}
	waiting := enqueue(t, q, pull(1, 99)) // stays at any age
	buried := enqueue(t, q, pull(2, 1))
	if c := next(t, q); c.Job.ID == waiting.ID {
		t.Cleanup(func() { _ = c.Release(context.Background()) })
		c = next(t, q)
		if err := c.Bury(t.Context(), errors.New("x")); err != nil {
			t.Error(err)
		}
	} else if err := c.Bury(t.Context(), errors.New("x")); err != nil {
		t.Error(err)
	}
	now = now.Add(721 * time.Hour)
	if err := q.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	has(false, false, false, false)
	if s, err := q.Scan(t.Context(), waiting.ID); err != nil || s.State.Over() {
		t.Errorf("the scan of a job that is there: %+v, %v", s, err)
	}
	for _, id := range append(ids, buried.ID) {
		if _, err := q.Scan(t.Context(), id); !errors.Is(err, queue.ErrNotFound) {
			t.Error("an old record stayed:", err)
		}
	}
	if letters, _ := q.Dead(t.Context(), 0); len(letters) != 0 {
		t.Errorf("old letters stayed: %+v", letters)
	}
}

// TestOrphans checks that a record whose job is gone does not stay running for ever.
func TestOrphans(t *testing.T) {
	t.Parallel()
	now := time.Now()
	q := open(t, queue.Config{Now: func() time.Time { return now }})
	if err := q.PutScan(t.Context(), queue.Scan{ID: "x", Installation: 1, Repository: 1, State: queue.Running}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []queue.State{queue.Running, queue.Failed} {
		if err := q.Prune(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s, err := q.Scan(t.Context(), "x"); s.State != want {
			t.Errorf("%s, %v; want %s", s.State, err, want)
		}
		now = now.Add(2 * time.Hour)
	}
}

func TestForget(t *testing.T) {
	t.Parallel()
	q := open(t, queue.Config{})
	job := func(i, r int64) queue.Job {
		return queue.Job{Kind: queue.KindPull, Installation: i, Repository: r, Pull: 1}
	}
	all := []queue.Job{job(1, 10), job(1, 11), job(1, 12), job(2, 20)}
	for i, j := range all {
		all[i] = enqueue(t, q, j)
	}
	running := next(t, q)                                                 // 10
	if err := next(t, q).Bury(t.Context(), errors.New("x")); err != nil { // 20
		t.Fatal(err)
	}
	forget := enqueue(t, q, queue.Job{Kind: queue.KindForget, Installation: 1})
	if err := q.PutReport(t.Context(), all[0].ID, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if err := q.Forget(t.Context(), 1, []int64{10, 11}); err != nil {
		t.Fatal(err)
	}
	<-running.Context().Done()
	if cause := context.Cause(running.Context()); cause != queue.ErrLost {
		t.Error("cause:", cause)
	}
	if err := running.Done(t.Context()); !errors.Is(err, queue.ErrLost) {
		t.Error("done:", err)
	}
	wantStates(t, q, map[string]queue.State{all[2].ID: queue.Queued, all[3].ID: queue.Failed})
	if _, err := q.Report(t.Context(), all[0].ID); !errors.Is(err, queue.ErrNotFound) {
		t.Error("the report stayed:", err)
	}
	for _, installation := range []int64{1, 2} {
		if err := q.Forget(t.Context(), installation, nil); err != nil {
			t.Fatal(err)
		}
	}
	wantStates(t, q, map[string]queue.State{})
	wantStats(t, q, "1 pending, 0 running, 0 dead, 1 installations")
	if c := next(t, q); c.Job.ID != forget.ID {
		t.Error("what stayed:", c.Job.Subject())
	}
}
