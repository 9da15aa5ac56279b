package intake

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/preadmit/preadmit/webhooks/queue"
)

const (
	secret = "It's a Secret to Everybody"
	// ourApp is the App of the checks in the examples of check_suite.rerequested.
	ourApp = 29310
)

// server is a server on loopback with the handler.
type server struct {
	*httptest.Server
	t     testing.TB
	queue *spy
}

// open returns a server for a queue; change may change its configuration.
func open(t testing.TB, q Queue, change ...func(*Config)) *server {
	t.Helper()
	d := &server{t: t, queue: &spy{next: q, seen: map[string]bool{}}}
	config := Config{
		Queue: d.queue, Secrets: func() [][]byte { return [][]byte{[]byte(secret)} }, AppID: func() int64 { return ourApp },
	}
	for _, change := range change {
		change(&config)
	}
	d.Server = httptest.NewServer(New(config))
	t.Cleanup(d.Close)
	return d
}

// request returns a delivery in GitHub's format.
func (d *server) request(event, guid string, body []byte) *http.Request {
	d.t.Helper()
	r, err := http.NewRequest(http.MethodPost, d.URL, bytes.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-GitHub-Event", event)
	r.Header.Set("X-GitHub-Delivery", guid)
	r.Header.Set("X-Hub-Signature-256", sign(secret, body))
	return r
}

// send sends a request and returns the status and the text of the response.
func (d *server) send(r *http.Request) (int, string) {
	d.t.Helper()
	answer, err := d.Client().Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	if retry := answer.Header.Get("Retry-After"); (answer.StatusCode == http.StatusServiceUnavailable) != (retry != "") {
		d.t.Errorf("answer %d has Retry-After %q", answer.StatusCode, retry)
	}
	return answer.StatusCode, string(text)
}

// deliver sends a new delivery.
func (d *server) deliver(event string, body []byte) (int, string) {
	d.t.Helper()
	return d.send(d.request(event, uuid.NewString(), body))
}

func sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// spy records the calls of a queue, and fails on request. Without a queue behind it, it stores the
// deliveries itself.
type spy struct {
	next Queue

	mu   sync.Mutex
	jobs []queue.Job
	seen map[string]bool
	// broken are the methods that fail.
	broken []string
}

var errBroken = errors.New("no space left on device")

func (s *spy) Seen(ctx context.Context, guid string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case slices.Contains(s.broken, "Seen"):
		return false, errBroken
	case s.next != nil:
		return s.next.Seen(ctx, guid)
	}
	return s.seen[guid], nil
}

func (s *spy) Enqueue(ctx context.Context, job queue.Job) (queue.Job, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.broken, "Enqueue") {
		return job, false, errBroken
	}
	isNew := !slices.ContainsFunc(s.jobs, func(j queue.Job) bool { return j.Delivery == job.Delivery })
	if s.next != nil {
		stored, isNew, err := s.next.Enqueue(ctx, job)
		if err == nil && isNew {
			s.jobs = append(s.jobs, job)
		}
		return stored, isNew, err
	}
	if isNew {
		s.jobs = append(s.jobs, job)
	}
	return job, isNew, nil
}

func (s *spy) Remember(ctx context.Context, guid, event string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case slices.Contains(s.broken, "Remember"):
		return errBroken
	case s.next != nil:
		return s.next.Remember(ctx, guid, event)
	}
	s.seen[guid] = true
	return nil
}

// fail makes exactly the named methods fail from now on.
func (s *spy) fail(methods ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = methods
}

// taken returns the jobs that were stored since its last call.
func (s *spy) taken() []queue.Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	jobs := s.jobs
	s.jobs = nil
	return jobs
}
