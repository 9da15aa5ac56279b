package metrics

import "github.com/prometheus/client_golang/prometheus"

// Jail counts the processes of scans that ended without an answer.
type Jail struct {
	died, refused *prometheus.CounterVec
}

func newJail(f factory) *Jail {
	return &Jail{
		died:    f.counter("jail", "children_died_total", "Jailed processes that ended without an answer, by reason: limit or crash.", "why"),
		refused: f.counter("jail", "roots_refused_total", "Roots that were left out because their rendering killed a process."),
	}
}

// ChildDied counts a process that ended without an answer; limit is set if it exceeded a
// limit.
func (j *Jail) ChildDied(limit bool) {
	if j == nil {
		return
	}
	why := "crash"
	if limit {
		why = "limit"
	}
	j.died.WithLabelValues(why).Inc()
}

// RootRefused counts a root that was left out because its rendering killed a process.
func (j *Jail) RootRefused() {
	if j != nil {
		j.refused.WithLabelValues().Inc()
	}
}
