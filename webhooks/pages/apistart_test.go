package pages_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// TestAPIStarts checks that the API enqueues a scan of a repository that the App is installed on,
// once for each key.
func TestAPIStarts(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
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
	for range 8 { // also concurrently, and after it was claimed
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

// TestAPIBoundsStarts checks that a token cannot fill the queue, and that repeating a key does not count.
func TestAPIBoundsStarts(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	start := func(token, key string, pull int) answer {
		return w.call("POST", "/api/v1/scans", token, fmt.Sprintf(`{"repository":"octo/shop","pull":%d}`, pull), "Idempotency-Key", key)
	}
	began, taken := time.Now(), 0
	refused := start("token-of-shop", "", 1)
	for ; refused.status == 202 && taken < 1000; taken++ {
		refused = start("token-of-shop", "build", taken+2)
	}
	if most := 60 + int(time.Since(began).Seconds()) + 1; taken < 60 || taken > most {
		t.Errorf("%d are taken, want 60 to %d", taken, most)
	}
	if refused.status != 429 || refused.header.Get("Retry-After") != "1" {
		t.Errorf("beyond the bound: %+v", refused)
	}
	w.wants(refused.body, "too many scans")
	for range 10 {
		start("token-of-shop", "", 1) // which does not count
	}
	for token, pull := range map[string]int{"token-of-shop": 7, "token-of-all": 7} {
		if got := start(token, "build", pull); got.status != 202 {
			t.Errorf("%s: %+v", token, got)
		}
	}
	w.clock.pass(3 * time.Second)
	if got := start("token-of-shop", "", 1); got.status != 202 {
		t.Errorf("later: %+v", got)
	}
}
