package intake

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/preadmit/preadmit/webhooks/metrics"
)

// TestStoreFails checks that a delivery that was not stored never gets 2xx, at whichever step it fails,
// and that its redelivery causes one job.
func TestStoreFails(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"Seen", "Enqueue", "Remember"} {
		t.Run(step, func(t *testing.T) {
			q := embedded(t)
			d := open(t, q)
			guid := uuid.NewString()
			d.queue.fail(step)
			if status, text := d.send(d.request("pull_request", guid, opened(1))); status != http.StatusServiceUnavailable || strings.Contains(text, errBroken.Error()) {
				t.Errorf("answered %d %s", status, text)
			}
			d.queue.fail()
			// If only Remember failed, the job was stored.
			want := http.StatusAccepted
			if step == "Remember" {
				want = http.StatusOK
			}
			if status, text := d.send(d.request("pull_request", guid, opened(1))); status != want {
				t.Errorf("sent again, answered %d %s, want %d", status, text, want)
			}
			if jobs := d.queue.taken(); len(jobs) != 1 {
				t.Errorf("stored %d jobs", len(jobs))
			}
			if seen, err := q.Seen(t.Context(), guid); err != nil || !seen {
				t.Errorf("the delivery is remembered: %v, %v", seen, err)
			}
		})
	}
}

// TestReplayed checks that a delivery causes one job, however often it is sent. With another id it
// causes a job for the same subject, of which one is pending.
func TestReplayed(t *testing.T) {
	t.Parallel()
	q := embedded(t)
	d := open(t, q)
	guid := uuid.NewString()
	for i, send := range []struct {
		guid   string
		status int
	}{
		{guid, http.StatusAccepted}, {guid, http.StatusOK}, {strings.ToUpper(guid), http.StatusOK},
		{uuid.NewString(), http.StatusAccepted}, {uuid.NewString(), http.StatusAccepted}, {guid, http.StatusOK},
	} {
		if status, text := d.send(d.request("pull_request", send.guid, opened(1))); status != send.status {
			t.Errorf("%d: answered %d %s, want %d", i, status, text, send.status)
		}
	}
	stats, err := q.Stats(t.Context())
	if err != nil || stats.Pending != 1 {
		t.Errorf("pending: %+v, %v", stats, err)
	}
}

// TestAtOnce checks that concurrent copies of a delivery cause one job.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	d := open(t, embedded(t))
	guid := uuid.NewString()
	var wg sync.WaitGroup
	var mu sync.Mutex
	answers := map[int]int{}
	for range 24 {
		wg.Go(func() {
			status, _ := d.send(d.request("pull_request", guid, opened(1)))
			mu.Lock()
			defer mu.Unlock()
			answers[status]++
		})
	}
	wg.Wait()
	if jobs := d.queue.taken(); len(jobs) != 1 || answers[http.StatusAccepted] != 1 || answers[http.StatusOK] != 23 {
		t.Errorf("%d jobs, answers %v", len(jobs), answers)
	}
}

// TestUnheard checks that events without a handler are not even stored as seen.
func TestUnheard(t *testing.T) {
	t.Parallel()
	d := open(t, nil)
	d.queue.fail("Seen", "Enqueue", "Remember")
	for _, event := range []string{"star", "repository_dispatch", "a_new_one", "ping"} {
		if status, text := d.deliver(event, []byte(ping)); status != http.StatusOK {
			t.Errorf("%s: answered %d %s", event, status, text)
		}
	}
}

// TestLogged checks that the log and the metrics have the outcome of deliveries, and contain no text
// that strangers chose, nor the secret.
func TestLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	registry := prometheus.NewRegistry()
	d := open(t, nil, func(c *Config) {
		c.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		c.Metrics = metrics.New(registry).Intake
	})
	const canary = "C4n4ry"
	body := bytes.Replace(opened(1), []byte(`"opened"`), []byte(`"`+canary+`"`), 1)
	d.deliver("pull_request", body)
	d.deliver("pull_request", []byte(canary))
	d.deliver("pull_request", opened(1))
	d.deliver("star", []byte(canary))
	for _, header := range []string{"X-GitHub-Event", "X-GitHub-Delivery", "X-Hub-Signature-256", "Content-Type"} {
		r := d.request("push", uuid.NewString(), []byte(canary))
		r.Header.Set(header, canary+" ")
		d.send(r)
	}
	d.queue.fail("Enqueue")
	d.deliver("pull_request", opened(1))
	for _, secret := range []string{canary, secret} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log holds %s:\n%s", secret, &log)
		}
	}
	if !strings.Contains(log.String(), errBroken.Error()) || strings.Count(log.String(), "\n") != 9 {
		t.Errorf("the log does not say all:\n%s", &log)
	}
	d.Close() // waits until all are counted
	const want = `
		# HELP preadmit_webhook_deliveries_total Webhook deliveries, by event and outcome.
		# TYPE preadmit_webhook_deliveries_total counter
		preadmit_webhook_deliveries_total{event="other",outcome="ignored"} 1
		preadmit_webhook_deliveries_total{event="other",outcome="refused"} 4
		preadmit_webhook_deliveries_total{event="pull_request",outcome="accepted"} 1
		preadmit_webhook_deliveries_total{event="pull_request",outcome="failed"} 1
		preadmit_webhook_deliveries_total{event="pull_request",outcome="ignored"} 1
		preadmit_webhook_deliveries_total{event="pull_request",outcome="refused"} 1
	`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "preadmit_webhook_deliveries_total"); err != nil {
		t.Error(err)
	}
	const none = `
		# HELP preadmit_webhook_held_bytes Bytes of bodies that are being read or looked at.
		# TYPE preadmit_webhook_held_bytes gauge
		preadmit_webhook_held_bytes 0
	`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(none), "preadmit_webhook_held_bytes"); err != nil {
		t.Error(err)
	}
}
