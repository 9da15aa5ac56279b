package worker

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// another opens another pull request like the first, with the same verdict.
func (w *env) another() githubtest.Pull {
	w.t.Helper()
	head, err := w.shop.Commit("main", githubtest.Files{"app/new.yaml": configMap("new", "deny")})
	w.must(err)
	branch := "change-" + head[:12]
	w.must(w.shop.SetBranch(branch, head))
	n, err := w.shop.OpenPull(githubtest.PullOptions{Head: branch})
	w.must(err)
	return w.shop.Pull(n)
}

// steps returns the number of requests to GitHub for one job.
func (w *env) steps() int {
	w.t.Helper()
	w.scanner.keep = true
	pr := w.another()
	w.enqueue(queue.Job{Pull: pr.Number, Head: pr.HeadSHA})
	w.work() // so that everything that is requested once is known
	pr = w.another()
	before := w.wire.count()
	w.enqueue(queue.Job{Pull: pr.Number, Head: pr.HeadSHA})
	w.work()
	n := w.wire.count() - before
	if n < 8 {
		w.t.Fatalf("%d requests: that is no whole job", n)
	}
	return n
}

// once checks that a pull request has one verdict, of the job.
func (w *env) once(name string, pr githubtest.Pull, job queue.Job) {
	w.t.Helper()
	w.want(name+": check runs", w.checks(pr.HeadSHA), []string{told})
	w.want(name+": comments", w.comments(pr.Number), []string{spoken})
	w.want(name+": record", w.state(job.ID), "completed failure")
	w.want(name+": annotations", annotations(w, pr.HeadSHA), 1)
	uploads := slices.DeleteFunc(w.hub.SARIFs(), func(s githubtest.SARIF) bool { return s.CommitSHA != w.shop.Pull(pr.Number).MergeSHA })
	if len(uploads) < 1 || len(uploads) > 2 { // the second is a repetition that replaces the first
		w.t.Errorf("%s: %d uploads of SARIF", name, len(uploads))
	}
}

func annotations(w *env, sha string) (n int) {
	for _, r := range w.hub.CheckRuns() {
		if r.HeadSHA == sha {
			n += len(r.Annotations)
		}
	}
	return n
}

// TestCrashAtEachStep checks that whenever a process crashes, before a request reaches GitHub or after,
// the next one completes the job, and nothing is duplicated.
func TestCrashAtEachStep(t *testing.T) {
	w := newEnv(t)
	steps := w.steps()
	for i := range 2 * steps {
		step, heard := i/2, i%2 == 1
		if !testall.Enabled() && (step%2 == 1 || heard != (step%4 == 0)) {
			continue // every second step, in one of the two ways
		}
		name := fmt.Sprintf("step %d of %d, heard %v", step+1, steps, heard)
		pr := w.another()
		// A fresh job creates a new check run, which is what could be duplicated.
		job := w.enqueue(queue.Job{Pull: pr.Number, Head: pr.HeadSHA, Fresh: heard})
		w.crash(step, heard)
		w.work()
		w.once(name, pr, job)
	}
}

// TestCrashBeforeAnotherEvent checks that whenever a process crashes, a job of another event, such as a
// redelivered one or one of the reconciliation, completes the verdict, and there is one check run.
func TestCrashBeforeAnotherEvent(t *testing.T) {
	w := newEnv(t)
	fine := func() githubtest.Pull {
		head, err := w.shop.Commit("main", githubtest.Files{"app/new.yaml": configMap("new", "fine")})
		w.must(err)
		branch := "fine-" + head[:12]
		w.must(w.shop.SetBranch(branch, head))
		n, err := w.shop.OpenPull(githubtest.PullOptions{Head: branch})
		w.must(err)
		return w.shop.Pull(n)
	}
	w.scanner.keep = true
	steps := 0
	for range 2 { // the first one also requests what is requested once
		pr, before := fine(), w.wire.count()
		w.enqueue(queue.Job{Pull: pr.Number, Head: pr.HeadSHA})
		w.work()
		steps = w.wire.count() - before
	}
	for i := range 2 * steps {
		step, heard := i/2, i%2 == 1
		if !testall.Enabled() && (!heard || step%2 == 1) {
			continue
		}
		pr := fine()
		w.enqueue(queue.Job{Pull: pr.Number, Head: pr.HeadSHA})
		w.crash(step, heard)
		job := w.enqueue(queue.Job{Pull: pr.Number, Head: pr.HeadSHA})
		w.work()
		name := fmt.Sprintf("step %d of %d, heard %v", step+1, steps, heard)
		w.want(name+": check runs", w.checks(pr.HeadSHA), []string{"completed success: no findings"})
		w.want(name+": record", w.state(job.ID), "completed success")
	}
}

// crash runs a worker that crashes at a request.
func (w *env) crash(step int, heard bool) {
	w.t.Helper()
	var crashed atomic.Bool
	ended := make(chan struct{}, 1000)
	w.wire.cutAfter(step, func(req *http.Request) (*http.Response, error) {
		if heard && crashed.CompareAndSwap(false, true) {
			if resp, err := http.DefaultTransport.RoundTrip(req); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
		}
		ended <- struct{}{}
		<-req.Context().Done()
		return nil, req.Context().Err()
	})
	stop := w.start()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		w.t.Fatal("the job ended before the crash")
	}
	w.must(w.queue.Close(context.Background())) // so that the worker cannot store anything
	stop()
	w.wire.cutAfter(0, nil)
	w.openQueue()
}

// TestFailureAtEachStep checks that if GitHub fails at any request, briefly or for longer than the retries,
// the job is completed, and nothing is duplicated.
func TestFailureAtEachStep(t *testing.T) {
	w := newEnv(t)
	steps := w.steps()
	rules := []githubtest.Rule{
		{Status: 502, Times: 7},
		{Status: 502, After: true},
		{Status: 403, Message: "You have exceeded a secondary rate limit"},
	}
	for i, rule := range rules {
		for step := range steps {
			if !testall.Enabled() && step%len(rules) != i {
				continue // one of the three ways for each step
			}
			rule.Skip = 0
			name := fmt.Sprintf("step %d of %d, %d after %v", step+1, steps, rule.Status, rule.After)
			pr := w.another()
			job := w.enqueue(queue.Job{Pull: pr.Number, Head: pr.HeadSHA})
			w.wire.cutAfter(step, func(req *http.Request) (*http.Response, error) {
				w.wire.cutAfter(0, nil)
				w.hub.Intercept(rule)
				return http.DefaultTransport.RoundTrip(req)
			})
			w.work()
			w.wire.cutAfter(0, nil)
			w.once(name, pr, job)
		}
	}
}

// TestOutage checks that a job that was given up after a long failure of GitHub is judged when it is
// requested again.
func TestOutage(t *testing.T) {
	w := newEnv(t)
	w.wire.cutAfter(6, func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 503, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: req}, nil
	})
	job := w.pull()
	w.work()
	w.want("record", w.state(job.ID), "failed failure")
	dead, err := w.queue.Dead(t.Context(), 10)
	w.must(err)
	w.want("dead letters", len(dead), 1)
	w.wire.cutAfter(0, nil)
	w.must(second(w.queue.Revive(t.Context(), dead[0].Sequence)))
	w.work()
	w.want("check runs", w.checks(w.shop.Pull(1).HeadSHA), []string{told})
	w.want("comments", w.comments(1), []string{spoken})
}
