package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// namespace is the prefix of every metric's name.
const namespace = "preadmit"

// Metrics are all collectors of the service.
type Metrics struct {
	// Queue counts jobs.
	Queue *Queue
	// Intake counts webhook deliveries.
	Intake *Intake
	// Worker counts scans and times their stages.
	Worker *Worker
	// GitHub counts requests to GitHub.
	GitHub *GitHub
	// Jail counts the processes that scan.
	Jail *Jail
	// Reconcile counts what reconciliation found.
	Reconcile *Reconcile
}

// New creates the collectors and registers them with registry. It panics if registry already has
// collectors of the same names.
func New(registry prometheus.Registerer) *Metrics {
	f := factory{registry}
	return &Metrics{
		Queue: newQueue(f), Intake: newIntake(f), Worker: newWorker(f),
		GitHub: newGitHub(f), Jail: newJail(f), Reconcile: newReconcile(f),
	}
}

// factory creates registered collectors of this program.
type factory struct{ registry prometheus.Registerer }

func (f factory) counter(part, name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Subsystem: part, Name: name, Help: help}, labels)
	f.registry.MustRegister(c)
	if len(labels) == 0 {
		c.WithLabelValues() // exported as 0 from the start
	}
	return c
}

func (f factory) gauge(part, name, help string, labels ...string) *prometheus.GaugeVec {
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Subsystem: part, Name: name, Help: help}, labels)
	f.registry.MustRegister(g)
	if len(labels) == 0 {
		g.WithLabelValues() // exported as 0 from the start
	}
	return g
}

// seconds creates a histogram of durations in seconds.
func (f factory) seconds(part, name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Subsystem: part, Name: name, Help: help, Buckets: buckets}, labels)
	f.registry.MustRegister(h)
	if len(labels) == 0 {
		h.WithLabelValues() // exported as 0 from the start
	}
	return h
}

// quick returns buckets for operations of milliseconds: 0.5 ms to 16 s.
func quick() []float64 { return prometheus.ExponentialBuckets(0.0005, 2, 16) }

// slow returns buckets for operations of up to minutes: 50 ms to 27 min.
func slow() []float64 { return prometheus.ExponentialBuckets(0.05, 2, 16) }

// observe adds a duration to a histogram of seconds.
func observe(h *prometheus.HistogramVec, d time.Duration, labels ...string) {
	h.WithLabelValues(labels...).Observe(d.Seconds())
}
