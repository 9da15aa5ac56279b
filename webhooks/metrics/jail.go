package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Jail counts the processes that scan.
type Jail struct {
	started, died, refused *prometheus.CounterVec
	took                   *prometheus.HistogramVec
	why                    *label
}

func newJail(f factory) *Jail {
	return &Jail{
		started: f.counter("jail", "children_started_total", "Jailed processes that were started."),
		died:    f.counter("jail", "children_died_total", "Jailed processes that ended without an answer, by reason.", "why"),
		refused: f.counter("jail", "roots_refused_total", "Roots that were left out because their rendering killed a process."),
		took:    f.seconds("jail", "child_seconds", "Duration of jailed processes.", slow()),
		why:     first(32),
	}
}

// ChildStarted counts a process.
func (j *Jail) ChildStarted() {
	if j != nil {
		j.started.WithLabelValues().Inc()
	}
}

// ChildEnded records how long a process ran, however it ended.
func (j *Jail) ChildEnded(d time.Duration) {
	if j != nil {
		observe(j.took, d)
	}
}

// ChildDied counts a process that ended without an answer: memory, time, crash, output, ...
func (j *Jail) ChildDied(why string) {
	if j != nil {
		j.died.WithLabelValues(j.why.value(why)).Inc()
	}
}

// RootRefused counts a root that was left out because its rendering killed a process.
func (j *Jail) RootRefused() {
	if j != nil {
		j.refused.WithLabelValues().Inc()
	}
}
