package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Intake counts webhook deliveries.
type Intake struct {
	received       *prometheus.CounterVec
	took           *prometheus.HistogramVec
	held           *prometheus.GaugeVec
	event, outcome *label
}

func newIntake(f factory) *Intake {
	return &Intake{
		received: f.counter("webhook", "deliveries_total", "Webhook deliveries, by event and outcome.", "event", "outcome"),
		took:     f.seconds("webhook", "delivery_seconds", "Time from a delivery's arrival to its answer, by outcome.", quick(), "outcome"),
		held:     f.gauge("webhook", "held_bytes", "Bytes of bodies that are being read or looked at."),
		event: oneOf("pull_request", "check_run", "check_suite", "merge_group", "push", "issue_comment",
			"installation", "installation_repositories", "ping"),
		outcome: first(32),
	}
}

// Received counts a delivery of an event that was answered after d. Events without a handler
// count as other.
func (i *Intake) Received(event, outcome string, d time.Duration) {
	if i == nil {
		return
	}
	outcome = i.outcome.value(outcome)
	i.received.WithLabelValues(i.event.value(event), outcome).Inc()
	observe(i.took, d, outcome)
}

// Held adds n bytes to the size of bodies in memory; n may be negative.
func (i *Intake) Held(n int64) {
	if i != nil {
		i.held.WithLabelValues().Add(float64(n))
	}
}
