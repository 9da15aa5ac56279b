package service

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/githubtest"
)

// clean is the title of a check run without findings.
const clean = "no findings"

// judging is a check run in progress, in the form of env.checks.
const judging = "in_progress |  | Judging"

// slow returns files whose scan takes some seconds, with a root each.
func slow() githubtest.Files {
	many := githubtest.Files{}
	for i := range 8000 {
		many[fmt.Sprintf("app/%05d/m.yaml", i)] = configMap("m", "fine")
	}
	return many
}

// slowPull opens a pull request whose scan takes some seconds, waits until a process scans
// it, and returns its head.
func (w *env) slowPull(r *replica) (head string) {
	w.t.Helper()
	head, err := w.shop.Push("slow", slow())
	w.must(err)
	w.must(second(w.shop.OpenPull(githubtest.PullOptions{Head: "slow"})))
	w.scanning(r, head)
	return head
}

// scanning waits until a process scans a commit.
func (w *env) scanning(r *replica, head string) {
	w.t.Helper()
	began := time.Now()
	w.eventually("the scan", func() []string {
		if len(descendants(r.cmd.Process.Pid)) == 0 {
			return nil
		}
		return w.checks(head)
	}, judging)
	w.t.Logf("scanning after %v", time.Since(began).Round(time.Millisecond))
}

// signal sends a signal to the service.
func (r *replica) signal(s syscall.Signal) {
	r.w.t.Helper()
	r.w.must(r.cmd.Process.Signal(s))
}

// ends waits until the service has ended, and returns how long that took.
func (r *replica) ends() time.Duration {
	r.w.t.Helper()
	began := time.Now()
	select {
	case <-r.ended:
	case <-time.After(patience):
		r.w.t.Fatal("the service does not end")
	}
	return time.Since(began)
}

// draining waits until the service reports that it is ending.
func (w *env) draining(r *replica) {
	w.t.Helper()
	w.eventually("/readyz", func() []string {
		status, text := r.get("/readyz")
		return []string{fmt.Sprint(status), text}
	}, "503", "the service is ending\n")
}

// TestDrain: running scans are completed, waiting jobs are kept, and deliveries meanwhile are
// accepted.
func TestDrain(t *testing.T) {
	w, dir := newEnv(t), t.TempDir()
	o := options{"DRAIN": "80s", "SCAN_CONCURRENCY": "1", "RECONCILE_EVERY": "0s"}
	r := w.start(dir, o)
	head := w.slowPull(r)
	waiting := w.shop.Pull(w.pull(w.shop, "waiting", "deny")).HeadSHA
	r.signal(syscall.SIGTERM)
	w.draining(r)
	if got := w.checks(head); !slices.Equal(got, []string{judging}) {
		t.Fatalf("the scan was over too soon: %q", got)
	}
	if status, _ := r.get("/healthz"); status != http.StatusOK {
		t.Errorf("/healthz: %d", status)
	}
	late := w.shop.Pull(w.pull(w.shop, "late", "deny")).HeadSHA
	took := r.ends()
	t.Logf("drained within %v", took.Round(time.Millisecond))
	if code := r.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	if got := w.checks(head); !slices.Equal(got, []string{"completed | success | " + clean}) {
		t.Errorf("the scan at work was not finished: %q", got)
	}
	if got := append(w.checks(waiting), w.checks(late)...); len(got) != 0 {
		t.Errorf("other scans were begun: %q", got)
	}
	w.start(dir, o)
	w.judged(waiting, "failure", denied)
	w.judged(late, "failure", denied)
	w.judged(head, "success", clean)
}

// TestGivenBack: a scan that does not end in time is returned to the queue, as if it had not
// been tried, and leaves no process.
func TestGivenBack(t *testing.T) {
	w, dir := newEnv(t), t.TempDir()
	o := options{"DRAIN": "100ms", "QUEUE_ATTEMPTS": "1", "RECONCILE_EVERY": "0s"}
	r := w.start(dir, o)
	head := w.slowPull(r)
	children := descendants(r.cmd.Process.Pid)
	r.signal(syscall.SIGTERM)
	took := r.ends()
	t.Logf("ended within %v", took.Round(time.Millisecond))
	if code := r.cmd.ProcessState.ExitCode(); code != 0 || took > 20*time.Second {
		t.Errorf("it ended with %d after %v", code, took)
	}
	w.eventually("processes of the scan", func() []string { return living(children) })
	if got := r.left(); len(got) != 0 {
		t.Errorf("left behind: %q", got)
	}
	w.start(dir, o)
	w.judged(head, "success", clean)
}

// TestEndAtOnce: after a second signal the service does not wait, and running jobs are repeated.
func TestEndAtOnce(t *testing.T) {
	w, dir := newEnv(t), t.TempDir()
	r := w.start(dir, options{"DRAIN": "80s", "RECONCILE_EVERY": "0s"})
	head := w.slowPull(r)
	children := descendants(r.cmd.Process.Pid)
	r.signal(syscall.SIGTERM)
	w.draining(r)
	r.signal(syscall.SIGTERM)
	if took := r.ends(); took > 5*time.Second {
		t.Errorf("it ended after %v", took)
	}
	if got := w.checks(head); !slices.Equal(got, []string{judging}) {
		t.Errorf("it waited for the scan: %q", got)
	}
	w.eventually("processes of the scan", func() []string { return living(children) })
	w.start(dir, nil)
	w.judged(head, "success", clean)
}

// TestTooOften: a job that ends the process each time is given up, with a message. Jobs that ran
// at the same time, and those that arrived meanwhile, are judged.
func TestTooOften(t *testing.T) {
	w, dir := newEnv(t), t.TempDir()
	o := options{"QUEUE_ATTEMPTS": "2", "RECONCILE_EVERY": "0s", "SCAN_CONCURRENCY": "2"}
	r := w.start(dir, o)
	head := w.slowPull(r)
	r.kill()
	beside := func(name string) string { return w.shop.Pull(w.pull(w.shop, name, "deny")).HeadSHA }

	// A job is blamed if it is the only one of the process that ends. At the start the job is free, and comes first.
	r = w.start(dir, o)
	w.scanning(r, head)
	first := beside("first")
	w.eventually("jobs that wait", func() []string { return r.metric(`preadmit_queue_jobs{state="pending"}`) }, "1")
	if n := len(w.checks(first)); n != 0 {
		t.Errorf("%d check runs of what came meanwhile", n)
	}
	r.kill()

	// The job rests: what is scanned once the others are judged is the job.
	r = w.start(dir, o)
	w.judged(first, "failure", denied)
	w.judged(beside("second"), "failure", denied)
	w.scanning(r, head)
	r.kill()

	r = w.start(dir, o)
	w.judged(head, "failure", unscanned)
	w.eventually("dead letters", func() []string { return r.metric(`preadmit_queue_jobs{state="dead"}`) }, "1")
	number := w.pull(w.shop, "usual", "deny")
	w.judged(w.shop.Pull(number).HeadSHA, "failure", denied)
}

// listening waits until a server listens on an address.
func (w *env) listening(address string) {
	w.t.Helper()
	w.eventually("listener at "+address, func() []string {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return []string{err.Error()}
		}
		w.must(conn.Close())
		return nil
	})
}

// TestStoreAway: without enough NATS servers the service refuses deliveries, reports that it
// is not ready, and waits.
func TestStoreAway(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	c := &cluster{w: w}
	c.startNATS()
	var urls []string
	for _, n := range c.nodes {
		urls = append(urls, "nats://"+n.listen)
		w.listening(n.listen)
	}
	r := w.start(t.TempDir(), options{"NATS_URL": strings.Join(urls, ","), "RECONCILE_EVERY": "0s"})
	number := w.pull(w.shop, "before", "deny")
	w.judged(w.shop.Pull(number).HeadSHA, "failure", denied)

	c.nodes[0].kill()
	time.Sleep(1100 * time.Millisecond) // readiness is cached for a second
	r.ready()
	number = w.pull(w.shop, "between", "deny")
	w.judged(w.shop.Pull(number).HeadSHA, "failure", denied)

	c.nodes[1].kill()
	w.eventually("/readyz", func() []string { status, _ := r.get("/readyz"); return []string{fmt.Sprint(status)} }, "503")
	if status, _ := r.get("/healthz"); status != http.StatusOK {
		t.Errorf("/healthz: %d", status)
	}
	began := time.Now()
	number = w.pull(w.shop, "during", "deny")
	last := w.lastOf("pull_request")
	t.Logf("a delivery without a store is answered %d, two of them in %v", last.Status, time.Since(began).Round(time.Millisecond))
	if last.Status != http.StatusServiceUnavailable {
		t.Errorf("a delivery is answered %d without a store", last.Status)
	}

	began = time.Now()
	c.startNode(c.nodes[0])
	c.startNode(c.nodes[1])
	r.ready()
	t.Logf("ready again after %v", time.Since(began).Round(time.Millisecond))
	w.must(w.app.Redeliver(last.ID))
	// 200 if the store had saved the delivery but did not respond in time.
	if status := w.lastOf("pull_request").Status; status != http.StatusAccepted && status != http.StatusOK {
		t.Errorf("a delivery to a service that is ready is answered %d", status)
	}
	w.judged(w.shop.Pull(number).HeadSHA, "failure", denied)
	w.told(w.shop, number, "the key deny is not for us")
}

// lastOf returns the last delivery of an event. GitHub also sends deliveries for actions of the service itself.
func (w *env) lastOf(event string) githubtest.Delivery {
	w.t.Helper()
	for _, d := range slices.Backward(w.app.Deliveries()) {
		if d.Event == event {
			return d
		}
	}
	w.t.Fatal("no delivery of ", event)
	return githubtest.Delivery{}
}
