package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Depth is the content of a queue at one moment.
type Depth struct {
	// Pending jobs wait, Running ones are worked on, Dead is the number of dead letters.
	Pending, Running, Dead int
	// Installations is the number of installations with pending or running jobs.
	Installations int
	// Scans is the number of stored scans, ended or not.
	Scans int
	// Oldest is how long the oldest pending job has waited; 0 when none is pending.
	Oldest time.Duration
}

// Queue counts jobs.
type Queue struct {
	enqueued, ended *prometheus.CounterVec
	waited, wrote   *prometheus.HistogramVec
	kind            *label
	depth           *depth
}

func newQueue(f factory) *Queue {
	q := &Queue{
		enqueued: f.counter("queue", "jobs_enqueued_total", "Jobs that were taken, by kind and by whether they are new, superseded one, or were there.", "kind", "outcome"),
		ended:    f.counter("queue", "claims_ended_total", "Jobs that were worked on, by how that ended.", "outcome"),
		waited:   f.seconds("queue", "wait_seconds", "Time from a job's creation to its first claim.", slow()),
		wrote:    f.seconds("queue", "write_seconds", "Time of a durable write.", quick(), "what"),
		kind:     first(16),
		depth:    newDepth(),
	}
	f.registry.MustRegister(q.depth)
	return q
}

// Enqueued counts a job. outcome is new, superseded (it replaced an existing job) or
// duplicate.
func (q *Queue) Enqueued(kind, outcome string) {
	if q != nil {
		q.enqueued.WithLabelValues(q.kind.value(kind), outcome).Inc()
	}
}

// Ended counts the end of a claim: done, retry, dead, superseded, lost, released or postponed.
func (q *Queue) Ended(outcome string) {
	if q != nil {
		q.ended.WithLabelValues(outcome).Inc()
	}
}

// Waited records how long a job waited for its first claim.
func (q *Queue) Waited(d time.Duration) {
	if q != nil {
		observe(q.waited, d)
	}
}

// Wrote records a durable write to what: jobs, scans, dead, deliveries, holds, reports.
func (q *Queue) Wrote(what string, d time.Duration) {
	if q != nil {
		observe(q.wrote, d, what)
	}
}

// Watch sets the function that returns the depth at each scrape. It must not block.
func (q *Queue) Watch(ask func() Depth) {
	if q != nil {
		q.depth.watch(ask)
	}
}

// depth is the collector of a queue's depth.
type depth struct {
	jobs, installations, scans, oldest *prometheus.Desc

	mutex sync.Mutex
	ask   func() Depth
}

func newDepth() *depth {
	name := func(n string) string { return prometheus.BuildFQName(namespace, "queue", n) }
	return &depth{
		jobs:          prometheus.NewDesc(name("jobs"), "Jobs that are pending, running or dead.", []string{"state"}, nil),
		installations: prometheus.NewDesc(name("installations"), "Installations with pending or running jobs.", nil, nil),
		scans:         prometheus.NewDesc(name("scans"), "Scans that are kept: those of jobs, and those that ended.", nil, nil),
		oldest:        prometheus.NewDesc(name("oldest_pending_seconds"), "How long the oldest pending job has waited; 0 when none is pending.", nil, nil),
	}
}

func (d *depth) watch(ask func() Depth) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.ask = ask
}

// Describe implements prometheus.Collector.
func (d *depth) Describe(to chan<- *prometheus.Desc) {
	to <- d.jobs
	to <- d.installations
	to <- d.scans
	to <- d.oldest
}

// Collect implements prometheus.Collector. Before Watch there are no metrics.
func (d *depth) Collect(to chan<- prometheus.Metric) {
	d.mutex.Lock()
	ask := d.ask
	d.mutex.Unlock()
	if ask == nil {
		return
	}
	now := ask()
	gauge := func(desc *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, v, labels...)
	}
	gauge(d.jobs, float64(now.Pending), "pending")
	gauge(d.jobs, float64(now.Running), "running")
	gauge(d.jobs, float64(now.Dead), "dead")
	gauge(d.installations, float64(now.Installations))
	gauge(d.scans, float64(now.Scans))
	gauge(d.oldest, now.Oldest.Seconds())
}
