package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Reconcile counts what reconciliation found.
type Reconcile struct {
	recovered, enqueued, finished *prometheus.CounterVec
	took                          *prometheus.HistogramVec
	outcome                       *label
}

func newReconcile(f factory) *Reconcile {
	return &Reconcile{
		recovered: f.counter("reconcile", "deliveries_recovered_total", "Failed deliveries that were requested again from GitHub."),
		enqueued:  f.counter("reconcile", "pulls_enqueued_total", "Open pull requests without a verdict that were enqueued."),
		finished:  f.counter("reconcile", "checks_finished_total", "Check runs left in progress that were completed."),
		took:      f.seconds("reconcile", "pass_seconds", "Duration of passes, by outcome.", slow(), "outcome"),
		outcome:   first(16),
	}
}

// Recovered counts n failed deliveries whose redelivery was requested.
func (r *Reconcile) Recovered(n int) {
	if r != nil {
		r.recovered.WithLabelValues().Add(float64(n))
	}
}

// Enqueued counts n open pull requests without a verdict that were enqueued.
func (r *Reconcile) Enqueued(n int) {
	if r != nil {
		r.enqueued.WithLabelValues().Add(float64(n))
	}
}

// Finished counts n check runs left in progress that were completed.
func (r *Reconcile) Finished(n int) {
	if r != nil {
		r.finished.WithLabelValues().Add(float64(n))
	}
}

// Pass records the duration of a pass by its outcome: complete, limited, failed, ...
func (r *Reconcile) Pass(outcome string, d time.Duration) {
	if r != nil {
		observe(r.took, d, r.outcome.value(outcome))
	}
}
