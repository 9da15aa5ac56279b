package pages_test

import (
	"sync"
	"testing"

	"github.com/preadmit/preadmit/report/github/githubtest"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// TestAPIStarts: the API enqueues a scan of a repository that the App is installed on,
// once for each key.
func TestAPIStarts(t *testing.T) {
	w := newWorld(t)
	const body = `{"repository":"octo/shop","pull":7}`
	first := w.call("POST", "/api/v1/scans", "token-of-shop", body, "Idempotency-Key", "build 1")
	if first.status != 202 {
		t.Fatalf("the answer is %+v", first)
	}
	started := decode[struct{ ID, URL string }](w.site, first.body)
	if first.header.Get("Location") != started.URL || started.URL != w.url+"/api/v1/scans/"+started.ID {
		t.Errorf("it leads to %q and %q", first.header.Get("Location"), started.URL)
	}
	w.await(started.ID, func(s queue.Scan) bool { return s.Repository == w.shop.ID() && s.Pull == 7 && s.Reason == "api" })
	w.wants(w.call("GET", "/api/v1/scans/"+started.ID, "token-of-shop", "").body, `"state":"queued"`)
	claim, err := w.queue.Next(t.Context())
	if err != nil || claim.Job.ID != started.ID || !claim.Job.Fresh {
		t.Errorf("the job is %+v: %v", claim, err)
	}
	var group sync.WaitGroup
	for range 8 { // also at the same time, and after it was claimed
		group.Go(func() {
			if again := w.call("POST", "/api/v1/scans", "token-of-shop", body, "Idempotency-Key", "build 1"); again.status != 202 || again.body != first.body {
				t.Errorf("asked again: %d %s", again.status, again.body)
			}
		})
	}
	group.Wait()
	if stats, err := w.queue.Stats(t.Context()); err != nil || stats.Pending != 0 {
		t.Errorf("there are %d jobs: %v", stats.Pending, err)
	}
	ids := map[string]bool{started.ID: true}
	for _, call := range [][]string{{"token-of-shop", body, "build 2"}, {"token-of-all", body, "build 1"}, {"token-of-shop", body, ""}, {"token-of-shop", body, ""}, {"token-of-shop", `{"repository":"octo/shop","pull":8}`, "build 1"}} {
		got := w.call("POST", "/api/v1/scans", call[0], call[1], "Idempotency-Key", call[2])
		ids[decode[struct{ ID, URL string }](w.site, got.body).ID] = true
	}
	if len(ids) != 6 {
		t.Errorf("the ids are %v", ids)
	}
	got := w.call("POST", "/api/v1/scans", "token-of-all", `{"repository":"octo/none","pull":7}`)
	w.wants(got.body, `"field":"repository"`, "not installed there")
	w.hub.Intercept(githubtest.Rule{Method: "GET", Path: "/repos/octo/shop/installation", Status: 401, Times: 9})
	if got := w.call("POST", "/api/v1/scans", "token-of-all", body); got.status != 503 || got.header.Get("Retry-After") == "" {
		t.Errorf("without GitHub: %+v", got)
	}
	alice, _ := w.as("alice", "/")
	w.noSecrets(alice)
}
