package worker

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/internal/gittest"
	"github.com/preadmit/preadmit/webhooks/jailed"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// TestDrain checks that a job in progress is completed if there is time when the service stops, and
// returns to the queue otherwise. No other job is begun.
func TestDrain(t *testing.T) {
	for name, test := range map[string]struct {
		drain time.Duration
		state string
	}{"time enough": {time.Minute, "completed failure"}, "no time": {time.Nanosecond, "queued "}} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			w.config.Drain, w.config.Concurrency = test.drain, 1
			entered, release := w.scanner.hold()
			stop := w.start()
			first := w.pull()
			<-entered
			pr := w.another()
			waiting := w.enqueue(queue.Job{Pull: pr.Number})
			stopped := make(chan struct{})
			go func() { stop(); close(stopped) }()
			if test.drain > time.Second {
				select {
				case <-stopped:
					t.Error("the worker did not wait")
				case <-time.After(50 * time.Millisecond):
				}
				release()
			}
			<-stopped
			w.want("records", []string{w.state(first.ID), w.state(waiting.ID)}, []string{test.state, "queued "})
		})
	}
}

// TestConcurrency checks that as many jobs are processed at a time as configured.
func TestConcurrency(t *testing.T) {
	w := newEnv(t)
	w.config.Concurrency = 3
	entered, release := w.scanner.hold()
	for range 4 {
		w.enqueue(queue.Job{Pull: w.another().Number})
	}
	stop := w.start()
	for range 3 {
		<-entered
	}
	select {
	case <-entered:
		t.Error("a fourth one")
	case <-time.After(100 * time.Millisecond):
	}
	release()
	w.idle()
	stop()
}

// TestWorkDir checks that directories of ended processes are removed, and locked ones are not.
func TestWorkDir(t *testing.T) {
	parent := t.TempDir()
	dead := filepath.Join(parent, workDirPrefix+"dead", "job-1")
	if err := os.MkdirAll(dead, 0o755); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(parent, "something else")
	if err := os.Mkdir(foreign, 0o755); err != nil {
		t.Fatal(err)
	}
	first, err := openWorkDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	job, err := first.take()
	if err != nil {
		t.Fatal(err)
	}
	second, err := openWorkDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{dead: false, filepath.Dir(dead): false, foreign: true, job: true, second.dir: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %v", path, err, want)
		}
	}
	first.close()
	if _, err := os.Stat(first.dir); err == nil {
		t.Error("a directory that was closed is there")
	}
	second.close()
}

// TestNothingIsLeft checks that fetched repositories are removed also after a scan that failed or
// was superseded.
func TestNothingIsLeft(t *testing.T) {
	w := newEnv(t)
	w.scanner.on(func(_ context.Context, r jailed.Request) error {
		if entries, err := os.ReadDir(r.Repository); err != nil || len(entries) == 0 {
			t.Errorf("nothing was fetched: %v", err)
		}
		return errScan
	})
	stop := w.start()
	w.pull()
	w.idle()
	rooms, err := filepath.Glob(filepath.Join(w.config.TempDir, "*", "*"))
	w.must(err)
	w.want("left", rooms, []string{})
	stop()
}

// TestTwoReplicas checks that two workers on one queue judge each pull request once.
func TestTwoReplicas(t *testing.T) {
	w := newEnv(t)
	w.scanner.keep = true
	one, two := w.start(), w.start()
	var pulls []githubtest.Pull
	for range 6 {
		pr := w.another()
		pulls = append(pulls, pr)
		for range 2 {
			w.enqueue(queue.Job{Pull: pr.Number})
		}
	}
	w.idle()
	one()
	two()
	for _, pr := range pulls {
		w.want("check runs", w.checks(pr.HeadSHA), []string{told})
		w.want("comments", w.comments(pr.Number), []string{spoken})
	}
}

// TestInsideAWorkTree checks that scans work if the directory for temporary files is in a git work
// tree.
func TestInsideAWorkTree(t *testing.T) {
	w := newEnv(t)
	if _, err := gittest.NewHistory(w.config.TempDir, map[string]string{"a": "a"}, map[string]string{"b": "b"}, map[string]string{"c": "c"}); err != nil {
		t.Fatal(err)
	}
	w.pull()
	w.work()
	w.want("check runs", w.checks(w.shop.Pull(1).HeadSHA), []string{told})
}
