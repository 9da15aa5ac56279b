package metrics_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/preadmit/preadmit/webhooks/metrics"
)

// say calls every method once.
func say(m *metrics.Metrics) {
	m.Queue.Enqueued("pull", "new")
	m.Queue.Ended("done")
	m.Queue.Waited(time.Second)
	m.Queue.Wrote("jobs", time.Millisecond)
	m.Queue.Watch(func() metrics.Depth {
		return metrics.Depth{Pending: 3, Running: 2, Dead: 1, Installations: 4, Scans: 9, Oldest: 90 * time.Second}
	})
	m.Intake.Received("push", "accepted", time.Millisecond)
	m.Intake.Held(10)
	m.Worker.ScanEnded("success")
	m.Worker.Stage("fetch", time.Second)
	m.Worker.Job("pull", time.Second)
	m.Worker.Busy(1)
	m.GitHub.Call("check-runs", 201)
	m.GitHub.Took("check-runs", time.Second)
	m.GitHub.Remaining(7, 4999)
	m.GitHub.Token("granted")
	m.GitHub.Limited("check-runs")
	m.Jail.ChildDied(true)
	m.Jail.RootRefused()
	m.Reconcile.Recovered(2)
	m.Reconcile.Enqueued(3)
	m.Reconcile.Finished(4)
	m.Reconcile.Pass("complete", time.Second)
}

// TestMetrics calls every method once, and checks the output of a scrape; of durations only the
// count.
func TestMetrics(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	say(metrics.New(registry))
	problems, err := testutil.GatherAndLint(registry)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %+v", err, problems)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			value := m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			fmt.Fprintf(&got, "%s{%s} %g\n", f.GetName(), strings.Join(labels, ","), value)
		}
	}
	want := `preadmit_github_call_seconds{class=check-runs} 1
preadmit_github_calls_total{class=check-runs,status=201} 1
preadmit_github_rate_limit_remaining{installation=7} 4999
preadmit_github_rate_limited_total{class=check-runs} 1
preadmit_github_tokens_total{outcome=granted} 1
preadmit_jail_children_died_total{why=limit} 1
preadmit_jail_roots_refused_total{} 1
preadmit_queue_claims_ended_total{outcome=done} 1
preadmit_queue_installations{} 4
preadmit_queue_jobs{state=dead} 1
preadmit_queue_jobs{state=pending} 3
preadmit_queue_jobs{state=running} 2
preadmit_queue_jobs_enqueued_total{kind=pull,outcome=new} 1
preadmit_queue_oldest_pending_seconds{} 90
preadmit_queue_scans{} 9
preadmit_queue_wait_seconds{} 1
preadmit_queue_write_seconds{what=jobs} 1
preadmit_reconcile_checks_finished_total{} 4
preadmit_reconcile_deliveries_recovered_total{} 2
preadmit_reconcile_pass_seconds{outcome=complete} 1
preadmit_reconcile_pulls_enqueued_total{} 3
preadmit_scan_scans_total{outcome=success} 1
preadmit_scan_stage_seconds{stage=fetch} 1
preadmit_webhook_deliveries_total{event=push,outcome=accepted} 1
preadmit_webhook_delivery_seconds{outcome=accepted} 1
preadmit_webhook_held_bytes{} 10
preadmit_worker_busy{} 1
preadmit_worker_job_seconds{kind=pull} 1
`
	if got.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", got.String(), want)
	}
}

// TestNil checks that metrics may be nil.
func TestNil(t *testing.T) { say(&metrics.Metrics{}) }

// TestBounds checks that input from strangers and many installations do not create more time series.
func TestBounds(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	m := metrics.New(registry)
	for i := range 3000 {
		m.Intake.Received(fmt.Sprint("event-", i), fmt.Sprint("outcome-", i), 0)
		m.GitHub.Remaining(int64(i), i)
		m.GitHub.Call(fmt.Sprint("class-", i), i)
		m.Worker.ScanEnded(fmt.Sprint("outcome-", i))
	}
	for name, most := range map[string]int{
		"preadmit_webhook_deliveries_total": 33, "preadmit_github_rate_limit_remaining": 1001,
		"preadmit_github_calls_total": 1000, "preadmit_scan_scans_total": 33,
	} {
		if n, err := testutil.GatherAndCount(registry, name); err != nil || n > most || n == 0 {
			t.Errorf("%s has %d series, want at most %d (%v)", name, n, most, err)
		}
	}
	m.GitHub.Forget(5)
	m.GitHub.Remaining(5000, 1)
	if n, _ := testutil.GatherAndCount(registry, "preadmit_github_rate_limit_remaining"); n != 1001 {
		t.Errorf("%d series after one installation left and one came", n)
	}
}
