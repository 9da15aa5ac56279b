package service

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// senders is how many deliveries are sent concurrently.
const senders = 64

// TestLoad sends many deliveries per second, each for its own pull request, so that none
// supersedes another, and checks that all acknowledged ones are in the queue.
// PREADMIT_LOAD_RATE and PREADMIT_LOAD_SECONDS set the rate and the duration.
//
// Workers run meanwhile. GitHub does not know the pull requests of the load, so a job costs
// only a request and its records. Pull requests of another installation, with which it takes
// turns, are scanned all the time.
func TestLoad(t *testing.T) {
	w := newEnv(t)
	tr := newTraffic(w, seed(t), 2)
	l := &load{w: w, rate: number(t, "PREADMIT_LOAD_RATE", 200), seconds: number(t, "PREADMIT_LOAD_SECONDS", 5)}
	dir := t.TempDir()
	r := w.start(dir, options{"SCAN_CONCURRENCY": "1", "LOG_LEVEL": "info"})
	l.prepare(20)
	stop := tr.begin(time.Second)
	l.observe(r)
	t.Logf("heap in use %q bytes; answered by the service's clock within 16 ms: %q of %q", r.metric("go_memstats_heap_inuse_bytes"),
		r.metric(`preadmit_webhook_delivery_seconds_bucket{outcome="accepted",le="0.016"}`), r.metric(`preadmit_webhook_delivery_seconds_count{outcome="accepted"}`))
	t.Logf("jobs left at the end: %q", r.metric(`preadmit_queue_jobs{state="pending"}`))
	t.Logf("other installation: %s; scans by outcome: %q", tr, r.metric("preadmit_scan_scans_total"))
	stop()
	if code := r.stop(); code != 0 {
		t.Errorf("the service ended with %d", code)
	}
	l.report(dir)
	l.again(dir, options{}, math.MaxInt)
	l.again(dir, options{"KEEP_SCANS": "1000"}, 1050)
}

// again restarts the service with the data of the load, and reports its resources once there
// are at most most ended scans.
func (l *load) again(dir string, o options, most int) {
	l.w.t.Helper()
	began := time.Now()
	o["LOG_LEVEL"], o["RECONCILE_EVERY"], o["SCAN_CONCURRENCY"] = "info", "0s", "1"
	r := l.w.start(dir, o)
	l.w.t.Logf("started again with %v: ready after %s", o, time.Since(began).Round(time.Millisecond))
	l.fewer(r, most)
	l.w.t.Logf("it has %d scans, %d MiB resident, a live heap of %d MiB", r.count("preadmit_queue_scans"), rss(l.w.t, r), r.live()>>20)
	if code := r.stop(); code != 0 {
		l.w.t.Errorf("the service ended with %d", code)
	}
}

// load sends deliveries at a rate.
type load struct {
	w             *env
	rate, seconds int
	// pulls is the number of pull requests of the deliveries; 0 means one per delivery.
	pulls        int
	repositories []int64
	payloads     [][]byte // one per repository, with mark as the number of the pull request

	sent []sent
}

// sent is the result of a delivery.
type sent struct {
	guid   string
	took   time.Duration // since the time when it was due
	status int
}

// mark is the placeholder for the number of a pull request.
const mark = 987654321

// prepare creates repositories of another account, and payloads as GitHub sends them.
func (l *load) prepare(n int) {
	l.w.t.Helper()
	l.w.must(second(l.w.app.Install("crowd")))
	for i := range n {
		r, err := l.w.hub.AddRepository(githubtest.RepositoryOptions{Owner: "crowd", Name: fmt.Sprint("many-", i), Files: githubtest.Files{"a.yaml": configMap("a", "b")}})
		l.w.must(err)
		l.w.must(second(r.Push("change", githubtest.Files{"b.yaml": configMap("b", "b")})))
		l.w.must(second(r.OpenPull(githubtest.PullOptions{Head: "change"})))
		l.repositories = append(l.repositories, r.ID())
		for _, d := range slices.Backward(l.w.app.Deliveries()) {
			if d.Event == "pull_request" && d.Repository == r.ID() {
				l.payloads = append(l.payloads, l.marked(d.Payload))
				break
			}
		}
	}
	if len(l.payloads) != n {
		l.w.t.Fatalf("%d payloads of %d repositories", len(l.payloads), n)
	}
	l.w.t.Logf("payloads of %d KiB", len(l.payloads[0])>>10)
}

// marked returns a payload for the pull request mark, about as long as GitHub's.
func (l *load) marked(payload []byte) []byte {
	l.w.t.Helper()
	var event map[string]any
	l.w.must(json.Unmarshal(payload, &event))
	event["number"] = mark
	pull := event["pull_request"].(map[string]any)
	pull["number"] = mark
	pull["body"] = strings.Repeat("why this is good. ", 800)
	out, err := json.Marshal(event)
	l.w.must(err)
	return out
}

// about returns the repository and the pull request of delivery i.
func (l *load) about(i int) (repository int64, pull int) {
	if l.pulls > 0 {
		i %= l.pulls
	}
	return l.repositories[i%len(l.repositories)], 1000 + i
}

// send sends all deliveries, each when it is due, independent of how long others take.
func (l *load) send(url string) {
	transport := &http.Transport{MaxIdleConnsPerHost: senders}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 10 * time.Second} // GitHub's
	l.sent = make([]sent, l.rate*l.seconds)
	var next atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	for range senders {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(l.sent); i = int(next.Add(1)) - 1 {
				req := l.request(url, i)
				due := began.Add(time.Duration(i) * time.Second / time.Duration(l.rate))
				time.Sleep(time.Until(due))
				l.sent[i].status = do(client, req)
				l.sent[i].took = time.Since(due)
			}
		})
	}
	all.Wait()
}

// request returns the request of delivery i.
func (l *load) request(url string, i int) *http.Request {
	repository, pull := l.about(i)
	body := bytes.ReplaceAll(l.payloads[slices.Index(l.repositories, repository)], []byte(strconv.Itoa(mark)), []byte(strconv.Itoa(pull)))
	mac := hmac.New(sha256.New, []byte(l.w.app.WebhookSecret()))
	mac.Write(body)
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		panic(err) // the URL is the harness's
	}
	l.sent[i].guid = uuid.NewString()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-GitHub-Event", "pull_request")
	req.Header.Set("X-GitHub-Delivery", l.sent[i].guid)
	req.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	return req
}

// do sends a request and returns the status, 0 if there is no response.
func do(client *http.Client, req *http.Request) int {
	resp, err := client.Do(req)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, resp.Body) // only the status matters
	_ = resp.Body.Close()
	return resp.StatusCode
}

// report reports the times, and acknowledged deliveries that are missing. The service must
// have ended.
func (l *load) report(dir string) {
	l.w.t.Helper()
	q, err := queue.Open(l.w.t.Context(), queue.Config{Dir: filepath.Join(dir, "nats")})
	l.w.must(err)
	defer q.Close(context.Background())
	var took []time.Duration
	acknowledged, lost := 0, 0
	for i, s := range l.sent {
		took = append(took, s.took.Round(10*time.Microsecond))
		if s.status != http.StatusAccepted {
			continue
		}
		acknowledged++
		repository, pull := l.about(i)
		seen, err := q.Seen(l.w.t.Context(), s.guid)
		l.w.must(err)
		scans := len(q.Scans(queue.ScanFilter{Repository: repository, Pull: pull}))
		if !seen || scans == 0 || scans > 1 && l.pulls == 0 {
			lost++
		}
	}
	slices.Sort(took)
	at := func(part float64) time.Duration { return took[min(len(took)-1, int(float64(len(took))*part))] }
	l.w.t.Logf("%d deliveries at %d a second, from when each was due to its answer: p50 %s, p90 %s, p99 %s, longest %s",
		len(took), l.rate, at(0.5), at(0.9), at(0.99), took[len(took)-1])
	l.w.t.Logf("%d acknowledged, %d of them lost", acknowledged, lost)
	if lost > 0 || acknowledged == 0 {
		l.w.t.Errorf("%d of %d acknowledged deliveries are lost", lost, acknowledged)
	}
}

func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return err.Error()
	}
	return strings.Join(strings.Fields(string(text))[:3], " ")
}
