package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// duplicateWindow is how long the stream remembers a job's delivery. Remember lasts longer.
	duplicateWindow = 5 * time.Minute
	// clusterWait is how long creating a stream in a cluster may take: its servers may be
	// starting too.
	clusterWait = 30 * time.Second
	// reportBucket is the object store of reports.
	reportBucket = "preadmit-reports"
)

// openStreams creates the streams that do not exist, and updates the others to the
// configuration.
func (q *Queue) openStreams(ctx context.Context) error {
	js, err := jetstream.New(q.conn)
	if err != nil {
		return fmt.Errorf("using JetStream: %w", err)
	}
	s := &streams{js: js, queue: q, replicas: q.config.replicas(q.conn)}
	jobs, err := open[record](ctx, s, "jobs", jetstream.StreamConfig{Duplicates: duplicateWindow})
	if err != nil {
		return err
	}
	jobs.share = q.interner.shareRecord
	q.jobs = newCachedStore(jobs, func(before, now entry[record]) {
		q.schedule.update(before, now)
		q.index.updateJob(before, now)
	})
	scans, err := open[Scan](ctx, s, "scans", jetstream.StreamConfig{})
	if err != nil {
		return err
	}
	scans.share = q.interner.shareScan
	q.scans = newCachedStore(scans, q.index.updateScan)
	dead, err := open[Dead](ctx, s, "dead", jetstream.StreamConfig{})
	if err != nil {
		return err
	}
	q.dead = newCachedStore(dead, func(_, _ entry[Dead]) {})
	return q.openUnwatched(ctx, s)
}

// openUnwatched opens the stores that have no cache, and the object store of reports.
func (q *Queue) openUnwatched(ctx context.Context, s *streams) (err error) {
	noted := jetstream.StreamConfig{MaxAge: deliveryAge, MaxMsgs: int64(q.config.KeepDeliveries)}
	if q.deliveries, err = open[delivery](ctx, s, "deliveries", noted); err != nil {
		return err
	}
	short := min(q.config.Lease, time.Minute)
	if q.locks, err = open[holder](ctx, s, "holds", jetstream.StreamConfig{MaxAge: q.config.Lease, Duplicates: short}); err != nil {
		return err
	}
	if q.embedded != nil {
		// Every holder is dead.
		if err := q.locks.stream.Purge(ctx); err != nil {
			return fmt.Errorf("dropping what a dead process held: %w", err)
		}
	}
	return s.patiently(ctx, "reports", func(ctx context.Context) error {
		q.reports, err = s.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{
			Bucket: reportBucket, TTL: q.config.KeepAge, Storage: jetstream.FileStorage, Replicas: s.replicas,
		})
		if err != nil {
			return err
		}
		q.reportStream, err = s.js.Stream(ctx, "OBJ_"+reportBucket)
		return err
	})
}

// replicas returns the number of servers that store each stream.
func (c Config) replicas(conn *nats.Conn) int {
	switch {
	case c.Replicas > 0:
		return c.Replicas
	case c.URL == "" || conn.ConnectedClusterName() == "":
		return 1
	}
	return 3
}

// streams creates streams.
type streams struct {
	js       jetstream.JetStream
	queue    *Queue
	replicas int
}

// open creates or updates the stream of a store.
func open[T any](ctx context.Context, s *streams, name string, config jetstream.StreamConfig) (*store[T], error) {
	q := s.queue
	t := &store[T]{js: s.js, name: name, prefix: "preadmit." + name + ".", metrics: q.config.Metrics, log: q.config.Log, goneFor: goneFor}
	if q.embedded != nil {
		t.goneFor = goneAlone
	}
	config.Name = "PREADMIT_" + strings.ToUpper(name)
	config.Subjects = []string{t.prefix + ">"}
	config.MaxMsgsPerSubject = 1
	config.AllowMsgTTL = true
	config.Replicas = s.replicas
	err := s.patiently(ctx, name, func(ctx context.Context) (err error) {
		t.stream, err = s.js.CreateOrUpdateStream(ctx, config)
		return err
	})
	if err != nil {
		return nil, err
	}
	if !t.stream.CachedInfo().Config.AllowMsgTTL {
		return nil, fmt.Errorf("nats.url: NATS %s is too old; use 2.11 or later", q.conn.ConnectedServerVersion())
	}
	t.created = t.stream.CachedInfo().Created
	return t, nil
}

// patiently calls do until it succeeds, for up to clusterWait while a cluster's servers start.
func (s *streams) patiently(ctx context.Context, name string, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, clusterWait)
	defer cancel()
	var why error
	for {
		try, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := do(try)
		cancel()
		if err == nil {
			return nil
		}
		if why == nil || !errors.Is(err, context.DeadlineExceeded) {
			why = err // an earlier error tells more than an exceeded deadline
		}
		if permanent(err) && !fewServers(err) || s.queue.embedded != nil || !pause(ctx, 250*time.Millisecond) {
			return s.explain(name, why)
		}
	}
}

// fewServers reports whether err means that too few servers of a cluster are running.
func fewServers(err error) bool {
	const noPeers, noReplicas = 10005, 10074
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == noPeers || api.ErrorCode == noReplicas)
}

// explain adds to err the configuration key and what the operator can do.
func (s *streams) explain(name string, err error) error {
	err = fmt.Errorf("making the store of %s: %w", name, err)
	switch {
	case s.queue.embedded != nil:
		return fmt.Errorf("dataDir: %w; check the directory's space and permissions", err)
	case fewServers(err):
		return fmt.Errorf("nats.replicas: %w; %d copies need as many servers: start them, or ask for fewer copies", err, s.replicas)
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return fmt.Errorf("nats.url: %w; enable JetStream for the account", err)
	}
	return fmt.Errorf("nats.url: %w", err)
}
