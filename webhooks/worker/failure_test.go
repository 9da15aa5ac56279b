package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/render/tree/gittree"
	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/jailed"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// TestFailures checks that a failure is reported in a check run that does not pass, in the record, and
// in a dead letter if the repository is not the cause.
func TestFailures(t *testing.T) {
	scanning := func(err error) func(*env) {
		return func(w *env) { w.scanner.on(func(context.Context, jailed.Request) error { return err }) }
	}
	limits := func(l gittree.Limits) func(*env) {
		return func(w *env) { w.config.Limits = FetchLimits{Limits: l} }
	}
	for _, test := range []struct {
		name  string
		set   func(w *env)
		why   string
		dead  int
		scans int
	}{
		{"out of order", scanning(errScan), "the scanner is out of order", 1, 3},
		{"a process that dies", scanning(&jailed.DeathError{Death: jailed.Death{Why: "ran out of memory", Root: "app"}, Tries: 8}), "ran out of memory", 1, 1},
		{"panic", func(w *env) {
			w.scanner.on(func(context.Context, jailed.Request) error { panic("::error::a secret of the repository") })
		}, "an internal error of preadmit", 1, 3},
		{"broken configuration", func(w *env) {
			w.must(second(w.shop.Push("main", githubtest.Files{".preadmit.yaml": "apiVersion: preadmit.dev/v1alpha1\nkind: ScanConfig\nfailOn: \"`@all`\"\n"})))
		}, ".preadmit.yaml:3", 0, 1},
		{"too many objects", limits(gittree.Limits{Objects: 3}), "more than 3 commits, directories and files", 0, 0},
		{"too many bytes", limits(gittree.Limits{Bytes: 900}), "more than 900 bytes", 0, 0},
		{"too large a file", limits(gittree.Limits{Object: 100}), "a file or directory of more than 100 bytes", 0, 0},
		{"too large unpacked", limits(gittree.Limits{Unpacked: 500}), "all files and directories together have more than 500 bytes", 0, 0},
		{"too slow", func(w *env) { w.config.Limits.Time = time.Nanosecond }, "longer than 0 seconds", 1, 0},
		{"no server of git", func(w *env) {
			w.config.GitURL = func(string, string) string { return w.hub.WebURL + "/octo/none.git" }
		}, "contents: read", 1, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newEnv(t)
			test.set(w)
			job := w.pull()
			w.work()
			w.want("check runs", w.checks(w.shop.Pull(1).HeadSHA), []string{"completed failure: The scan could not be completed"})
			s := w.record(job.ID)
			w.want("record", w.state(job.ID), "failed failure")
			summary := w.hub.CheckRuns()[0].Summary
			if !strings.Contains(s.Why, test.why) || !strings.Contains(summary, test.why) || strings.ContainsAny(s.Why, "\n\x1b") {
				t.Errorf("why %q and summary %q, want %q", s.Why, summary, test.why)
			}
			dead, err := w.queue.Dead(t.Context(), 10)
			w.must(err)
			w.want("dead letters", len(dead), test.dead)
			w.want("scans", w.scanner.count(), test.scans)
			w.want("comments", w.comments(1), []string{})
		})
	}
}

// TestFailureIsReportedLater checks that a failure that GitHub temporarily does not accept is reported later: an older
// verdict on the same head, against a base without policies, must not stay for it.
func TestFailureIsReportedLater(t *testing.T) {
	w := newEnv(t)
	w.must(second(w.shop.Push("lenient", githubtest.Files{"policies/policies.yaml": configMap("no", "policy")})))
	w.must(w.shop.SetBase(1, "lenient"))
	w.pull()
	w.work()
	head := w.shop.Pull(1).HeadSHA
	w.want("before", w.newestCheckRun(head), "completed success: no findings")
	w.must(w.shop.SetBase(1, "main"))
	w.scanner.on(func(context.Context, jailed.Request) error {
		w.scanner.on(func(context.Context, jailed.Request) error { return death() })
		w.want("during", w.newestCheckRun(head), "in_progress: Judging")
		w.hub.Intercept(githubtest.Rule{Method: "PATCH", Times: 8, Status: 502})
		return death()
	})
	job := w.pull()
	w.work()
	w.want("after", w.newestCheckRun(head), "completed failure: The scan could not be completed")
	w.want("record", w.state(job.ID), "failed failure")
	w.want("scans", w.scanner.count() > 2, true)
	dead, err := w.queue.Dead(t.Context(), 10)
	w.must(err)
	w.want("dead letters", len(dead), 1)
}

func death() error {
	return &jailed.DeathError{Stage: "render", Death: jailed.Death{Why: "took too much"}, Tries: 1}
}

// TestPermissions checks that outputs without permission are omitted, with a note.
func TestPermissions(t *testing.T) {
	without := func(names ...string) map[string]string {
		granted := map[string]string{"metadata": "read", "contents": "read", "checks": "write", "pull_requests": "write", "security_events": "write"}
		for _, n := range names {
			delete(granted, n)
		}
		return granted
	}
	for _, test := range []struct {
		name    string
		granted map[string]string
		checks  []string
		speaks  bool
		sarifs  int
		why     string
		state   string
	}{
		{"no code scanning", without("security_events"), []string{told}, true, 0, "No upload of SARIF", "completed failure"},
		{"no checks", without("checks"), []string{}, true, 1, "No check run", "completed failure"},
		{"no checks and no code scanning", without("checks", "security_events"), []string{}, true, 0, "No check run", "completed failure"},
		{"only reading pull requests", func() map[string]string {
			g := without()
			g["pull_requests"] = "read"
			return g
		}(), []string{told}, false, 1, "No comment", "completed failure"},
		{"no pull requests", without("pull_requests"), []string{"completed failure: The scan could not be completed"}, false, 0, "pull-requests: read", "failed failure"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newEnv(t)
			w.installed.SetPermissions(test.granted)
			job := w.pull()
			w.work()
			w.want("check runs", w.checks(w.shop.Pull(1).HeadSHA), test.checks)
			w.want("comments", len(w.comments(1)) > 0, test.speaks)
			w.want("SARIF", len(w.hub.SARIFs()), test.sarifs)
			w.want("record", w.state(job.ID), test.state)
			if why := w.record(job.ID).Why; !strings.Contains(why, test.why) {
				t.Errorf("why %q, want %q", why, test.why)
			}
			for _, r := range w.hub.CheckRuns() {
				if !strings.Contains(r.Summary, test.why) {
					t.Errorf("summary %q, want %q", r.Summary, test.why)
				}
			}
		})
	}
}

// TestGone checks that without access to GitHub the failure is in the record.
func TestGone(t *testing.T) {
	for _, test := range []struct {
		name, state string
		set         func(w *env) error
		dead        int
	}{
		{"suspended", "failed failure", func(w *env) error { return w.installed.Suspend(true) }, 1},
		{"uninstalled", "cancelled cancelled", func(w *env) error { return w.installed.Uninstall() }, 0},
		{"repository deleted", "cancelled cancelled", func(w *env) error { w.shop.Delete(); return nil }, 0},
		{"no such pull request", "cancelled cancelled", func(w *env) error { w.hub.RemovePull(1); return nil }, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newEnv(t)
			head := w.shop.Pull(1).HeadSHA
			w.must(test.set(w))
			job := w.enqueue(queue.Job{Pull: 1, Head: head})
			w.work()
			w.want("record", w.state(job.ID), test.state)
			dead, err := w.queue.Dead(t.Context(), 10)
			w.must(err)
			w.want("dead letters", len(dead), test.dead)
			if w.record(job.ID).Why == "" {
				t.Error("the record does not say why")
			}
		})
	}
}

// TestKilled checks that a job that ended its processes too often is reported, not tried again.
func TestKilled(t *testing.T) {
	w := newEnv(t)
	w.must(w.queue.Close(context.Background()))
	w.queueConf.Attempts = 1
	w.openQueue()
	job := w.pull()
	for range 2 { // the second one worked on nothing else
		_, err := w.queue.Next(t.Context()) // and its holder sends no heartbeat any more
		w.must(err)
		w.must(w.queue.Close(context.Background()))
		w.openQueue()
	}
	w.work()
	w.want("record", w.state(job.ID), "failed failure")
	w.want("check runs", w.checks(w.shop.Pull(1).HeadSHA), []string{"completed failure: The scan could not be completed"})
	dead, err := w.queue.Dead(t.Context(), 10)
	w.must(err)
	w.want("dead letters", len(dead), 1)
	w.want("scans", w.scanner.count(), 0)
}

// TestEndOf checks that the cause that ended a job's context takes precedence over its error.
func TestEndOf(t *testing.T) {
	ended := func(cause error) context.Context {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(cause)
		return ctx
	}
	for _, test := range []struct {
		ctx  context.Context
		err  error
		want end
	}{
		{context.Background(), nil, endDone},
		{ended(queue.ErrSuperseded), nil, endDone},
		{ended(queue.ErrSuperseded), errScan, endSuperseded},
		{ended(queue.ErrLost), errScan, endLost},
		{ended(errStopped), errScan, endReleased},
		{ended(errStopped), &overtaken{}, endOvertaken},
		{context.Background(), fmt.Errorf("put: %w", queue.ErrSuperseded), endSuperseded},
		{context.Background(), fmt.Errorf("put: %w", queue.ErrLost), endLost},
		{context.Background(), &gittree.LimitError{Limit: gittree.LimitTime}, endRetried},
		{context.Background(), &gittree.LimitError{Limit: gittree.LimitObject}, endRefused},
		{context.Background(), fmt.Errorf("ask: %w", &github.Error{Kind: github.KindLimited}), endPostponed},
		{context.Background(), errors.New("anything"), endRetried},
		{context.Background(), asStoreError(fmt.Errorf("store: %w", context.DeadlineExceeded)), endPostponed},
		{context.Background(), asStoreError(errors.New("no report")), endRetried},
		{context.Background(), fmt.Errorf("fetch: %w", syscall.ENOSPC), endPostponed},
	} {
		if got := endOf(test.ctx, test.err); got != test.want {
			t.Errorf("%v, %v: %d, want %d", context.Cause(test.ctx), test.err, got, test.want)
		}
	}
}
