package service

import (
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/freeport"
)

// TestRollingUpdate repeatedly replaces both of two replicas during pushes, as a Deployment
// does: it starts a new replica, signals an old one to end when the new one is ready, and still
// sends deliveries to the old one for a short time. No delivery fails, no scan is lost or done
// twice.
func TestRollingUpdate(t *testing.T) {
	w := newEnv(t)
	n := seed(t)
	u := &rollout{w: w, nats: w.startOneNATS()}
	u.front()
	for range 2 {
		u.add()
	}
	tr := newTraffic(w, n, 3)
	random := rand.New(rand.NewPCG(n, 2))
	stop := tr.begin(300 * time.Millisecond)
	for range number(t, "PREADMIT_ROLLOUTS", 3) * 2 {
		time.Sleep(moment(random, 2*time.Second))
		u.replace()
	}
	stop()
	began := time.Now()
	w.within(calm, "what is wrong", func() []string {
		out := tr.wrong()
		for _, r := range u.present() {
			out = append(out, r.busy()...)
		}
		return out
	})
	answers := map[int]int{}
	for _, d := range w.app.Deliveries() {
		answers[d.Status]++
	}
	slices.Sort(u.took)
	t.Logf("%d replicas replaced, calm %s after the last; drained within %s to %s", len(u.took), time.Since(began).Round(time.Millisecond), u.took[0], u.took[len(u.took)-1])
	t.Logf("people: %s; deliveries by answer: %v; %d check runs, %d heads with more than one", tr, answers, len(w.hub.CheckRuns()), tr.doubled())
	for status, n := range answers {
		if status/100 != 2 {
			t.Errorf("%d deliveries were answered %d", n, status)
		}
	}
	if n := tr.doubled(); n > 0 {
		t.Errorf("%d heads have more than one check run", n)
	}
}

// startOneNATS starts a NATS server and returns its URL.
func (w *env) startOneNATS() string {
	w.t.Helper()
	dir, listen := w.t.TempDir(), freeport.Address(w.t)
	n := &node{listen: listen, config: filepath.Join(dir, "nats.conf")}
	w.write(n.config, fmt.Sprintf("listen: %q\njetstream { store_dir: %q, sync_interval: always }\nlog_file: %q\n", listen, dir, filepath.Join(dir, "log")))
	n.cmd = exec.Command(program(w.t, "nats-server"), "-c", n.config)
	w.must(n.cmd.Start())
	w.t.Cleanup(n.kill)
	w.listening(listen)
	return "nats://" + listen
}

// rollout simulates replicas behind a Service.
type rollout struct {
	w    *env
	nats string
	url  string
	took []time.Duration

	mu       sync.Mutex
	replicas []*replica
	turn     int
}

// front starts the proxy in front of the replicas.
func (u *rollout) front() {
	proxy := &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(u.next()) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
		ErrorLog:     log.New(io.Discard, "", 0),
	}
	server := httptest.NewServer(proxy)
	u.w.t.Cleanup(server.Close)
	u.url = server.URL
}

// next returns the replica for the next delivery.
func (u *rollout) next() *url.URL {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.turn++
	goal, err := url.Parse(u.replicas[u.turn%len(u.replicas)].url)
	if err != nil {
		panic(err) // the harness made it
	}
	return goal
}

func (u *rollout) present() []*replica {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.replicas)
}

// add starts a replica, which gets deliveries once it is ready.
func (u *rollout) add() {
	u.w.t.Helper()
	hook, secret := u.url+"/webhooks/github", u.w.app.WebhookSecret()
	r := u.w.launchUnhooked(u.w.t.TempDir(), options{"NATS_URL": u.nats, "RECONCILE_EVERY": "0s", "SCAN_CONCURRENCY": "1"})
	r.ready()
	u.mu.Lock()
	u.replicas = append(u.replicas, r)
	u.mu.Unlock()
	u.w.app.SetWebhook(hook, secret)
}

// replace adds a replica and ends the oldest one, which still gets deliveries for a short time.
func (u *rollout) replace() {
	u.w.t.Helper()
	u.add()
	old := u.present()[0]
	old.signal(syscall.SIGTERM)
	time.Sleep(20 * time.Millisecond)
	u.mu.Lock()
	u.replicas = u.replicas[1:]
	u.mu.Unlock()
	u.took = append(u.took, old.ends().Round(time.Millisecond))
	if code := old.cmd.ProcessState.ExitCode(); code != 0 {
		u.w.t.Errorf("a replica ended with %d", code)
	}
}

// TestDrainUnderLoad: a service that is stopped during many deliveries loses none that it
// accepted, and the next process does the rest.
func TestDrainUnderLoad(t *testing.T) {
	w := newEnv(t)
	l := &load{w: w, rate: number(t, "PREADMIT_LOAD_RATE", 200), seconds: number(t, "PREADMIT_LOAD_SECONDS", 5)}
	dir := t.TempDir()
	o := options{"SCAN_CONCURRENCY": "2", "LOG_LEVEL": "info", "DRAIN": "1s"}
	r := w.start(dir, o)
	l.prepare(10)
	w.slowPull(r)
	sent := make(chan struct{})
	go func() { defer close(sent); l.send(r.url + "/webhooks/github") }()
	time.Sleep(time.Duration(l.seconds) * time.Second / 2)
	r.signal(syscall.SIGTERM)
	took := r.ends()
	<-sent
	if code := r.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	answers := map[int]int{}
	for _, s := range l.sent {
		answers[s.status]++
	}
	for status := range answers {
		if status != 0 && status != http.StatusAccepted {
			t.Errorf("deliveries were answered %v", answers)
		}
	}
	t.Logf("drained within %s; answers (0: it was gone): %v", took.Round(time.Millisecond), answers)
	l.report(dir)
	began := time.Now()
	r = w.start(dir, o)
	w.eventually("jobs that are left", func() []string {
		if n := r.count(`preadmit_queue_jobs{state="pending"}`) + r.count(`preadmit_queue_jobs{state="running"}`); n > 0 {
			return []string{fmt.Sprint(n)}
		}
		return nil
	})
	t.Logf("all done %s after the next start", time.Since(began).Round(time.Millisecond))
}
