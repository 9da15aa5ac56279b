package service

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/githubtest"
)

// ownDelivery is a delivery that the test sends itself.
type ownDelivery struct {
	event, guid string
	body        []byte
	// header is added to GitHub's header, or replaces values in it; a nil value removes one.
	header http.Header
	// method is POST when empty, path the webhook's.
	method, path string
	// chunked sends the body without its length.
	chunked bool
}

// copyOf returns an ownDelivery with the payload of a delivery and a new GUID.
func copyOf(d githubtest.Delivery, guid string) ownDelivery {
	return ownDelivery{event: d.Event, guid: guid, body: d.Payload}
}

// guid returns the n-th GUID for tests.
func guid(n int) string { return fmt.Sprintf("%08x-1111-4111-8111-111111111111", n) }

// signature returns the signature that GitHub would send with a secret.
func signature(prefix string, of func() hash.Hash, secret string, body []byte) string {
	mac := hmac.New(of, []byte(secret))
	mac.Write(body)
	return prefix + "=" + hex.EncodeToString(mac.Sum(nil))
}

const signed = "X-Hub-Signature-256"

// post sends a delivery, signed as by GitHub, and returns the response.
func (r *replica) post(l ownDelivery) (status int, text string, err error) {
	if l.method == "" {
		l.method = http.MethodPost
	}
	if l.path == "" {
		l.path = "/webhooks/github"
	}
	var body io.Reader = bytes.NewReader(l.body)
	if l.chunked {
		body = io.MultiReader(body)
	}
	req, err := http.NewRequest(l.method, r.url+l.path, body)
	if err != nil {
		return 0, "", err
	}
	req.Header = http.Header{
		"Content-Type": {"application/json"}, "X-Github-Event": {l.event}, "X-Github-Delivery": {l.guid},
		signed: {signature("sha256", sha256.New, r.w.app.WebhookSecret(), l.body)},
	}
	for name, values := range l.header {
		req.Header[name] = values
	}
	client := http.Client{Timeout: 30 * time.Second}
	resp, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(answer), err
}

// wants sends a delivery and checks the status of the response.
func (r *replica) wants(what string, l ownDelivery, want int) {
	r.w.t.Helper()
	if status, text, err := r.post(l); status != want {
		r.w.t.Errorf("%s: %d %s %v, want %d", what, status, text, err, want)
	}
}

// missed opens a pull request whose delivery does not reach the service, and returns the
// delivery.
func (w *env) missed(branch string) (head string, d githubtest.Delivery) {
	w.t.Helper()
	w.must(second(w.shop.Push(branch, githubtest.Files{"app/" + branch + ".yaml": configMap(branch, "deny")})))
	w.app.LoseDeliveries(1, http.StatusBadGateway)
	number, err := w.shop.OpenPull(githubtest.PullOptions{Head: branch})
	w.must(err)
	all := w.app.Deliveries()
	return w.shop.Pull(number).HeadSHA, all[len(all)-1]
}

// TestForged: deliveries that GitHub did not sign are refused and have no effect. The same
// payload with its signature is accepted.
func TestForged(t *testing.T) {
	w := newEnv(t)
	r := w.start(t.TempDir(), options{"RECONCILE_EVERY": "0s"})
	head, d := w.missed("change")
	secret, writes := w.app.WebhookSecret(), w.writes()
	sha256Of := func(secret string, body []byte) string { return signature("sha256", sha256.New, secret, body) }
	good := sha256Of(secret, d.Payload)
	for i, forgery := range []struct {
		what   string
		header http.Header
		want   int
	}{
		{"without a signature", http.Header{signed: nil}, 401},
		{"with an empty signature", http.Header{signed: {""}}, 401},
		{"signed with another secret", http.Header{signed: {sha256Of("guess", d.Payload)}}, 401},
		{"signed with no secret", http.Header{signed: {sha256Of("", d.Payload)}}, 401},
		{"signed with SHA-1 only", http.Header{signed: nil, "X-Hub-Signature": {signature("sha1", sha1.New, secret, d.Payload)}}, 401},
		{"with SHA-1 in the place of SHA-256", http.Header{signed: {signature("sha1", sha1.New, secret, d.Payload)}}, 401},
		{"with the signature of another text", http.Header{signed: {sha256Of(secret, append([]byte(" "), d.Payload...))}}, 401},
		{"with half a signature", http.Header{signed: {good[:39]}}, 401},
		{"with two signatures, one good", http.Header{signed: {good, sha256Of("guess", d.Payload)}}, 401},
		{"as a form", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, 415},
		{"compressed", http.Header{"Content-Encoding": {"gzip"}}, 415},
		{"without a GUID", http.Header{"X-Github-Delivery": nil}, 400},
		{"with a path as GUID", http.Header{"X-Github-Delivery": {"../../../../../../../../../../etc/passwd"}}, 400},
		{"of an event that is none", http.Header{"X-Github-Event": {"pull request;"}}, 400},
	} {
		l := copyOf(d, guid(i))
		l.header = forgery.header
		r.wants(forgery.what, l, forgery.want)
	}
	get := copyOf(d, guid(100))
	get.method = http.MethodGet
	r.wants("as GET", get, 405)
	r.quiet()
	if jobs, checks := r.metric("preadmit_queue_jobs_enqueued_total{kind=\"pull\""), w.checks(head); len(jobs) != 0 || len(checks) != 0 {
		t.Errorf("forgeries made jobs %q and check runs %q", jobs, checks)
	}
	if n := w.writes(); n != writes {
		t.Errorf("forgeries made %d requests that write", n-writes)
	}
	r.wants("as GitHub sends it", copyOf(d, guid(101)), 202)
	w.judged(head, "failure", denied)
}

// writes returns the number of writes at GitHub.
func (w *env) writes() int {
	n := 0
	for _, r := range w.hub.Requests() {
		if r.Writes() {
			n++
		}
	}
	return n
}

// quiet waits until the service has been idle for half a second.
func (r *replica) quiet() {
	r.w.t.Helper()
	since := time.Now()
	r.w.eventually("what is at work", func() []string {
		jobs := r.busy()
		if len(jobs) > 0 {
			since = time.Now()
		}
		if time.Since(since) < time.Second/2 {
			return append(jobs, "until just now")
		}
		return jobs
	})
}

// TestReplayed: a repeated delivery is acknowledged without work. Its payload with another
// GUID is processed, but nothing is published twice or for an old head.
func TestReplayed(t *testing.T) {
	w := newEnv(t)
	r := w.start(t.TempDir(), options{"RECONCILE_EVERY": "0s"})
	number := w.pull(w.shop, "change", "deny")
	first := w.shop.Pull(number).HeadSHA
	w.judged(first, "failure", denied)
	sent := w.app.Deliveries()
	opened := sent[slices.IndexFunc(sent, func(d githubtest.Delivery) bool { return d.Event == "pull_request" })]
	r.wants("the same", copyOf(opened, opened.GUID), 200)
	r.wants("the same in capitals", copyOf(opened, strings.ToUpper(opened.GUID)), 200)
	replay := func(from int) {
		for i := range 20 {
			r.wants("with another GUID", copyOf(opened, guid(from+i)), 202)
		}
		r.quiet()
	}
	only := func(sha string) {
		t.Helper()
		if got := w.checks(sha); !slices.Equal(got, []string{"completed | failure | " + denied}) {
			t.Errorf("check runs of %s: %q", sha, got)
		}
		w.told(w.shop, number, "the key deny is not for us")
	}
	replay(0)
	only(first)
	next, err := w.shop.Push("change", githubtest.Files{"app/more.yaml": configMap("more", "fine")})
	w.must(err)
	w.judged(next, "failure", denied)
	replay(100)
	only(first)
	only(next)
	w.must(w.shop.ClosePull(number))
	r.quiet()
	writes := w.writes()
	replay(200)
	if n := w.writes(); n != writes {
		t.Errorf("replays of a closed pull request made %d requests that write", n-writes)
	}
}

// TestOversized: bodies over 25 MB and endless headers are refused, and many of the largest
// at once need little memory and do not block other deliveries.
func TestOversized(t *testing.T) {
	const largest = 25 << 20
	w := newEnv(t)
	r := w.start(t.TempDir(), options{"RECONCILE_EVERY": "0s"})
	head, d := w.missed("change")
	padded := func(size int) []byte { return append(bytes.Repeat([]byte(" "), size-len(d.Payload)), d.Payload...) }
	over := ownDelivery{event: d.Event, guid: guid(1), body: padded(largest + 1)}
	r.wants("a byte too many", over, 413)
	over.chunked = true
	r.wants("a byte too many, of unknown length", over, 413)
	headers := copyOf(d, guid(2))
	headers.header = http.Header{"X-Long": {strings.Repeat("x", 200<<10)}}
	r.wants("endless headers", headers, 431)
	before := r.memory("VmHWM")
	unsigned := ownDelivery{event: d.Event, body: padded(largest), header: http.Header{signed: {"sha256=" + strings.Repeat("0", 64)}}}
	answers := flood(r, unsigned, 40)
	r.wants("one of the largest size", ownDelivery{event: d.Event, guid: guid(3), body: padded(largest)}, 202)
	w.judged(head, "failure", denied)
	after := r.memory("VmHWM")
	t.Logf("40 unsigned bodies of 25 MB: %v; most memory %d MiB before, %d MiB after", answers, before>>20, after>>20)
	if after-before > 600<<20 || after == 0 {
		t.Errorf("they took %d MiB", (after-before)>>20)
	}
}

// flood sends deliveries concurrently, and counts the responses. Meanwhile it checks that small
// ones are answered.
func flood(r *replica, l ownDelivery, n int) map[int]int {
	r.w.t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	var over atomic.Bool
	answers := map[int]int{}
	for i := range n {
		all.Go(func() {
			l := l
			l.guid = guid(1000 + i)
			status, _, _ := r.post(l)
			mu.Lock()
			defer mu.Unlock()
			answers[status]++
		})
	}
	go func() { all.Wait(); over.Store(true) }()
	for i := 0; !over.Load(); i++ {
		r.wants("a ping among large ones", ownDelivery{event: "ping", guid: guid(2000 + i), body: []byte("{}")}, 200)
		time.Sleep(20 * time.Millisecond)
	}
	for status := range answers {
		if status != http.StatusUnauthorized && status != http.StatusServiceUnavailable {
			r.w.t.Errorf("large unsigned bodies are answered %v", answers)
		}
	}
	return answers
}
