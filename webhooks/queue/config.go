package queue

import (
	"log/slog"
	"time"

	"github.com/preadmit/preadmit/webhooks/metrics"
)

// Config is the configuration of a queue. Zero values mean the defaults.
type Config struct {
	// Dir is the data directory of the embedded server, created if needed. It is used when
	// URL is empty, by one process at a time.
	Dir string
	// URL names an external NATS with JetStream: one or several URLs, separated by commas.
	URL string
	// CredentialsFile holds the credentials for that NATS: a JWT and its key, as nsc writes them.
	CredentialsFile string
	// CAFile holds the CA certificates, in PEM, that verify the servers' certificates;
	// the system's when empty.
	CAFile string
	// Replicas is the number of servers that store each stream. 0: one when embedded, else as
	// many as the cluster has, up to 3.
	Replicas int
	// Lease is how long a dead process keeps what it held. 30 seconds when 0.
	Lease time.Duration
	// Attempts is how often a job may fail, and how often a process that works on this job
	// alone may end, before the job becomes a dead letter. 5 when 0.
	Attempts int
	// Backoff is how long a job rests after its first, second, ... failed attempt; the last
	// value holds for all later ones. 10 s, 30 s, 2 min, 10 min when empty.
	Backoff []time.Duration
	// PerInstallation is the most jobs of one installation in progress at a time, over all
	// replicas. 0 means no limit.
	PerInstallation int
	// KeepAge is how long scan records, reports and dead letters are kept. 720 hours when 0.
	KeepAge time.Duration
	// KeepScans is the most records of ended scans; the oldest are removed first, with their
	// reports. 100,000 when 0.
	KeepScans int
	// KeepDeliveries is the most deliveries that are remembered; the oldest are forgotten
	// first. 500,000 when 0.
	KeepDeliveries int
	// KeepBytes is the maximum total size of reports; the oldest are removed first. 4 GiB when 0.
	KeepBytes int64
	// Failed is called with an error from which only a restart of the process recovers. It may be nil.
	Failed func(error)
	// Log receives errors that no caller gets; nil discards them.
	Log *slog.Logger
	// Metrics receives the counters; it may be nil.
	Metrics *metrics.Queue
	// Now returns the current time; nil is time.Now.
	Now func() time.Time
}

// withDefaults replaces zero values.
func (c Config) withDefaults() Config {
	if c.Lease == 0 {
		c.Lease = 30 * time.Second
	}
	if c.Attempts == 0 {
		c.Attempts = 5
	}
	if len(c.Backoff) == 0 {
		c.Backoff = []time.Duration{10 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute}
	}
	if c.KeepAge == 0 {
		c.KeepAge = 720 * time.Hour
	}
	if c.KeepScans == 0 {
		c.KeepScans = 100_000
	}
	if c.KeepDeliveries == 0 {
		c.KeepDeliveries = 500_000
	}
	if c.KeepBytes == 0 {
		c.KeepBytes = 4 << 30
	}
	if c.Failed == nil {
		c.Failed = func(error) {}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// backoff returns how long a job rests after its attempt-th failure.
func (c Config) backoff(attempt int) time.Duration {
	return c.Backoff[max(0, min(attempt, len(c.Backoff))-1)]
}
