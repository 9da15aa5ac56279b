package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Worker counts scans and times their stages.
type Worker struct {
	scans          *prometheus.CounterVec
	stages, jobs   *prometheus.HistogramVec
	busy           *prometheus.GaugeVec
	outcome, stage *label
	kind           *label
}

func newWorker(f factory) *Worker {
	return &Worker{
		scans:   f.counter("scan", "scans_total", "Scans that ended, by outcome.", "outcome"),
		stages:  f.seconds("scan", "stage_seconds", "Duration of a scan's stages.", slow(), "stage"),
		jobs:    f.seconds("worker", "job_seconds", "Duration of jobs, by kind.", slow(), "kind"),
		busy:    f.gauge("worker", "busy", "Jobs that this process is working on."),
		outcome: first(32), stage: first(32), kind: first(16),
	}
}

// ScanEnded counts a scan by its outcome: success, neutral, action_required, failure,
// cancelled, superseded, unchanged, failed, ...
func (w *Worker) ScanEnded(outcome string) {
	if w != nil {
		w.scans.WithLabelValues(w.outcome.value(outcome)).Inc()
	}
}

// Stage records how long a stage of a scan took: fetch, scan, publish, ...
func (w *Worker) Stage(stage string, d time.Duration) {
	if w != nil {
		observe(w.stages, d, w.stage.value(stage))
	}
}

// Job records the duration of a job of a kind.
func (w *Worker) Job(kind string, d time.Duration) {
	if w != nil {
		observe(w.jobs, d, w.kind.value(kind))
	}
}

// Busy adds n to the number of jobs in progress; n may be negative.
func (w *Worker) Busy(n int) {
	if w != nil {
		w.busy.WithLabelValues().Add(float64(n))
	}
}
