package queue

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/preadmit/preadmit/webhooks/metrics"
	"github.com/preadmit/preadmit/webhooks/queue/embedded"
)

// Errors of claims, locks and look-ups.
var (
	// ErrSuperseded means that there is a newer job of the same subject.
	ErrSuperseded = errors.New("superseded by a newer job")
	// ErrLost means that a claim could not be kept, or that its job was removed. Another
	// process may have the job, so the result must be discarded.
	ErrLost = errors.New("the claim on the job was lost")
	// ErrNotFound means that the requested thing does not exist, or no longer does.
	ErrNotFound = errors.New("not found")
	// ErrLocked means that another replica holds the lock.
	ErrLocked = errors.New("held by another replica")

	errClosed = errors.New("the queue is closed")
)

// Queue stores jobs, dead letters, scan records and reports. Its methods are safe for
// concurrent use.
type Queue struct {
	config   Config
	owner    string // this process
	embedded *embedded.Server
	conn     *nats.Conn

	jobs       *cachedStore[record]
	dead       *cachedStore[Dead]
	scans      *cachedStore[Scan]
	deliveries *store[delivery]
	locks      *store[holder]
	reports    jetstream.ObjectStore
	// reportStream is the stream in which the object store keeps the reports.
	reportStream jetstream.Stream

	schedule *schedule
	index    *scanIndex
	interner interner
	// unsettled has subjects with replaced jobs whose scans have no superseded record yet.
	unsettled chan string

	// context ends when the queue is closed. Until then the watchers run: those of the caches,
	// settleAll, pruneWhenFull and mend.
	context  context.Context
	cancel   context.CancelFunc
	watchers sync.WaitGroup
	closing  sync.Once
}

// Open opens the queue: it starts the embedded server or connects to an external one, creates
// missing streams, and reads what is stored. Its errors name the key of the service's
// configuration and what to do.
func Open(ctx context.Context, c Config) (*Queue, error) {
	c = c.withDefaults()
	if c.Lease < time.Second {
		return nil, fmt.Errorf("queue.lease: %s is too short; give at least 1s", c.Lease)
	}
	q := &Queue{config: c, owner: rand.Text(), index: newScanIndex(c.KeepScans), unsettled: make(chan string, 1024)}
	q.schedule = newSchedule(c, q.owner)
	q.context, q.cancel = context.WithCancel(context.Background())
	if err := q.open(ctx); err != nil {
		return nil, errors.Join(err, q.Close(context.WithoutCancel(ctx)))
	}
	return q, nil
}

// open does the work of Open. On an error the caller closes q.
func (q *Queue) open(ctx context.Context) (err error) {
	if q.config.URL == "" {
		if q.embedded, err = embedded.Start(q.config.Dir, q.config.Log); err != nil {
			return err
		}
		q.conn, err = q.embedded.Connect()
	} else {
		q.conn, err = connectExternal(ctx, q.config)
	}
	if err != nil {
		return err
	}
	if err := q.openStreams(ctx); err != nil {
		return err
	}
	if err := q.load(ctx); err != nil {
		return err
	}
	q.config.Metrics.Watch(q.depth)
	return nil
}

// load starts the watchers, and waits until the caches have what is stored.
func (q *Queue) load(ctx context.Context) error {
	ctx, cancel := withPatience(ctx, embedded.StartWait)
	defer cancel()
	q.watchers.Go(func() { q.jobs.watch(q.context, q.lost) })
	q.watchers.Go(func() { q.scans.watch(q.context, q.lost) })
	q.watchers.Go(func() { q.dead.watch(q.context, q.lost) })
	q.watchers.Go(q.settleAll)
	if err := q.catchUp(ctx); err != nil {
		return err
	}
	q.watchers.Go(q.pruneWhenFull) // needs all jobs in the cache
	if q.embedded != nil {
		q.watchers.Go(q.mend)
	}
	return nil
}

// catchUp waits until the caches have everything written so far.
func (q *Queue) catchUp(ctx context.Context) error {
	return errors.Join(q.jobs.catchUp(ctx), q.scans.catchUp(ctx), q.dead.catchUp(ctx))
}

// Ready returns nil when the streams that a delivery needs accept durable writes, and the watcher
// sees them. In a cluster each stream has a leader of its own, so one may be ready before another.
func (q *Queue) Ready(ctx context.Context) error {
	if q.context.Err() != nil {
		return errClosed
	}
	if q.embedded != nil {
		if err := q.embedded.Health(); err != nil {
			return err
		}
	}
	ctx, cancel := withPatience(ctx, 5*time.Second)
	defer cancel()
	noted := make(chan error, 1)
	go func() {
		_, err := q.deliveries.mark(ctx)
		noted <- err
	}()
	return errors.Join(q.jobs.catchUp(ctx), <-noted)
}

// Close closes the queue. Claims that have not ended are lost: if embedded, their jobs are free
// when the queue is opened again, else after the lease.
func (q *Queue) Close(ctx context.Context) (err error) {
	q.closing.Do(func() {
		q.cancel()
		q.watchers.Wait()
		if q.conn != nil {
			q.conn.Close()
		}
		if q.embedded != nil {
			err = q.embedded.Stop(ctx)
		}
	})
	return err
}

// Stats are counts of what the queue holds.
type Stats struct {
	// Pending jobs wait, Running ones are worked on, Dead is the number of dead letters.
	Pending, Running, Dead int
	// Oldest is the time since which the oldest pending job waits; zero without one.
	Oldest time.Time
	// Installations is the number of installations with pending or running jobs.
	Installations int
}

// Stats returns the counts that this process knows.
func (q *Queue) Stats(context.Context) (Stats, error) {
	stats := q.schedule.count()
	stats.Dead = q.dead.len()
	return stats, nil
}

// depth returns Stats for the metrics.
func (q *Queue) depth() metrics.Depth {
	stats := q.schedule.count()
	depth := metrics.Depth{Pending: stats.Pending, Running: stats.Running, Dead: q.dead.len(), Installations: stats.Installations, Scans: q.index.len()}
	if !stats.Oldest.IsZero() {
		depth.Oldest = q.now().Sub(stats.Oldest)
	}
	return depth
}
