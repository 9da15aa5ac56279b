package pages_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/preadmit/preadmit/webhooks/pages"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// site is a server with pages and API only, on the loopback interface.
type site struct {
	*testing.T
	url    string
	queue  *queue.Queue
	client *http.Client // a browser that follows no redirects
}

// newSite starts a site with AccessOpen; change may change its configuration.
func newSite(t *testing.T, change func(*pages.Config)) *site {
	t.Helper()
	q, err := queue.Open(t.Context(), queue.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := q.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	router := chi.NewRouter()
	server := httptest.NewUnstartedServer(router)
	c := pages.Config{Queue: q, PublicURL: "http://" + server.Listener.Addr().String(), Access: pages.AccessOpen, Version: "v1.2.3"}
	if change != nil {
		change(&c)
	}
	p, err := pages.New(c)
	if err != nil {
		t.Fatal(err)
	}
	p.Routes(router)
	server.Start()
	t.Cleanup(server.Close)
	return &site{t, server.URL, q, browser()}
}

func browser() *http.Client {
	return &http.Client{
		Timeout:       30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// answer is a response.
type answer struct {
	status int
	header http.Header
	body   string
}

// ask sends a request; header has pairs.
func (s *site) ask(method, path, body string, header ...string) answer {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Add(header[i], header[i+1])
	}
	return s.do(r)
}

func (s *site) do(r *http.Request) answer {
	s.Helper()
	resp, err := s.client.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(text)}
}

// get requests a page, which must have the status.
func (s *site) get(path string, status int) answer {
	s.Helper()
	a := s.ask("GET", path, "")
	if a.status != status {
		s.Errorf("GET %s answers %d, want %d: %.300s", path, a.status, status, a.body)
	}
	return a
}

// wants reports the parts that a text lacks, and those that it contains despite a "!" before them.
func (s *site) wants(text string, parts ...string) {
	s.Helper()
	for _, part := range parts {
		if not, ok := strings.CutPrefix(part, "!"); ok == strings.Contains(text, not) {
			s.Errorf("want %q in %s", part, text)
		}
	}
}

// id returns the id of the n-th scan.
func id(n int) string { return fmt.Sprintf("018f0000-0000-7000-8000-%012d", n) }

// scanOf returns the n-th scan: completed, of pull request 7 of octo/shop.
func scanOf(n int) queue.Scan {
	at := time.Date(2026, 11, 20, 10, 0, n, 0, time.UTC)
	return queue.Scan{
		ID: id(n), Kind: queue.KindPull, Installation: 1, Repository: 11, Owner: "octo", Repo: "shop",
		Pull: 7, Title: "Raise the limits", Author: "alice",
		Head: strings.Repeat("a1", 20), Base: strings.Repeat("b2", 20), Judged: strings.Repeat("c3", 20),
		State: queue.Completed, Conclusion: "failure", Denied: 2, Warned: 1, Reason: "pull_request.synchronize", Attempt: 1,
		CheckURL: "https://github.com/octo/shop/runs/5", Created: at, Started: at.Add(time.Second), Finished: at.Add(4 * time.Second),
	}
}

// put stores a scan after a change.
func (s *site) put(scan queue.Scan, change func(*queue.Scan)) {
	s.Helper()
	if change != nil {
		change(&scan)
	}
	if err := s.queue.PutScan(s.Context(), scan); err != nil {
		s.Fatal(err)
	}
	s.await(scan.ID, func(got queue.Scan) bool { return got.State == scan.State })
}

// await waits until a scan is as wanted in the list of all.
func (s *site) await(id string, wanted func(queue.Scan) bool) queue.Scan {
	s.Helper()
	for range 500 {
		for _, got := range s.queue.Scans(queue.ScanFilter{}) {
			if got.ID == id && wanted(got) {
				return got
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.Fatalf("the scan %s is not as wanted", id)
	return queue.Scan{}
}

// putReport stores one of the report package's test reports as the report of a scan.
func (s *site) putReport(id, name string) []byte {
	s.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "report", "format", "testdata", name+".json"))
	if err != nil {
		s.Fatal(err)
	}
	if err := s.queue.PutReport(s.Context(), id, data); err != nil {
		s.Fatal(err)
	}
	s.await(id, func(got queue.Scan) bool { return got.HasReport })
	return data
}

// decode decodes JSON strictly.
func decode[T any](s *site, text string) T {
	s.Helper()
	var v T
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		s.Fatalf("%v: %s", err, text)
	}
	return v
}
