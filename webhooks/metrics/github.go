package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// manyInstallations limits the installations whose remaining rate limit is exported.
const manyInstallations = 1000

// GitHub counts requests to GitHub.
type GitHub struct {
	calls               *prometheus.CounterVec
	took                *prometheus.HistogramVec
	remaining           *prometheus.GaugeVec
	tokens, limited     *prometheus.CounterVec
	class, installation *label
	outcome             *label
}

func newGitHub(f factory) *GitHub {
	return &GitHub{
		calls:     f.counter("github", "calls_total", "Requests to GitHub, by class of route and status.", "class", "status"),
		took:      f.seconds("github", "call_seconds", "Duration of requests to GitHub, by class of route.", quick(), "class"),
		remaining: f.gauge("github", "rate_limit_remaining", "Requests left in the present hour, by installation; 0 is the App itself.", "installation"),
		tokens:    f.counter("github", "tokens_total", "Requests for installation tokens, by outcome.", "outcome"),
		limited:   f.counter("github", "rate_limited_total", "Requests that GitHub refused because there were too many, by class of route.", "class"),
		class:     first(64), installation: first(manyInstallations), outcome: first(16),
	}
}

// Call counts a request of a class of routes ("check-runs") by the status of its response, 0
// without one.
func (g *GitHub) Call(class string, status int) {
	if g != nil {
		g.calls.WithLabelValues(g.class.value(class), statusLabel(status)).Inc()
	}
}

// statusLabel returns the label of an HTTP status.
func statusLabel(status int) string {
	switch {
	case status == 0:
		return "none"
	case status < 100 || status > 599:
		return other
	}
	return strconv.Itoa(status)
}

// Took records how long a request of a class of routes took.
func (g *GitHub) Took(class string, d time.Duration) {
	if g != nil {
		observe(g.took, d, g.class.value(class))
	}
}

// Remaining sets how many requests of the hour an installation has left; 0 is the App itself.
func (g *GitHub) Remaining(installation int64, n int) {
	if g != nil {
		g.remaining.WithLabelValues(g.installation.value(strconv.FormatInt(installation, 10))).Set(float64(n))
	}
}

// Forget removes the metrics of an installation that is gone.
func (g *GitHub) Forget(installation int64) {
	if g != nil {
		name := strconv.FormatInt(installation, 10)
		g.remaining.DeleteLabelValues(name)
		g.installation.forget(name)
	}
}

// Token counts a request for an installation token: granted, narrowed (to fewer permissions),
// refused or failed.
func (g *GitHub) Token(outcome string) {
	if g != nil {
		g.tokens.WithLabelValues(g.outcome.value(outcome)).Inc()
	}
}

// Limited counts a request that GitHub rejected because of a rate limit.
func (g *GitHub) Limited(class string) {
	if g != nil {
		g.limited.WithLabelValues(g.class.value(class)).Inc()
	}
}
