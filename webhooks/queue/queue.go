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

// What claims and look-ups end with.
var (
	// ErrSuperseded says that there is a newer job of the same subject.
	ErrSuperseded = errors.New("superseded by a newer job")
	// ErrLost says that a claim could not be kept, or its job is wanted no more: others may
	// have the job, and what comes of it is theirs.
	ErrLost = errors.New("the claim on the job was lost")
	// ErrNotFound says that there is no such thing, or no longer.
	ErrNotFound = errors.New("not found")
	// ErrLocked says that another replica holds what was asked for.
	ErrLocked = errors.New("held by another replica")

	errClosed = errors.New("the queue is closed")
)

// Queue is jobs, dead letters, scan records and reports. Its methods may be called from
// any goroutine.
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
	// reportStream is what the reports are kept in.
	reportStream jetstream.Stream

	schedule *schedule
	index    *scanIndex
	interner interner
	// unsettled are subjects with replaced jobs whose scans are yet to be recorded.
	unsettled chan string

	// context lives as long as the queue is open, and so do the watchers: those of the caches,
	// settleAll, pruneWhenFull and mend.
	context  context.Context
	cancel   context.CancelFunc
	watchers sync.WaitGroup
	closing  sync.Once
}

// Open opens the queue: it starts the embedded server or connects to an external one, makes
// what is not there yet, and reads what there is. Its errors name the key of the service's
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

// open is Open but for cleaning up.
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

// load begins to follow changes, and waits until what there was is here.
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
	q.watchers.Go(q.pruneWhenFull) // which has to know all jobs
	if q.embedded != nil {
		q.watchers.Go(q.mend)
	}
	return nil
}

// catchUp waits until this process knows of everything written so far.
func (q *Queue) catchUp(ctx context.Context) error {
	return errors.Join(q.jobs.catchUp(ctx), q.scans.catchUp(ctx), q.dead.catchUp(ctx))
}

// Ready is nil when durable writes of all that a delivery needs are taken, and news come
// back. In a cluster each stream has a leader of its own, and one may be there before another.
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

// Close ends the queue. Claims that are not ended are lost: embedded they are free when the
// queue is opened again, else after the lease.
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

// Stats is what the queue holds.
type Stats struct {
	// Pending jobs wait, Running ones are worked on, Dead ones were given up.
	Pending, Running, Dead int
	// Oldest is since when the oldest pending job waits; zero when none does.
	Oldest time.Time
	// Installations have pending or running jobs.
	Installations int
}

// Stats counts what the queue holds, going by what this process knows.
func (q *Queue) Stats(context.Context) (Stats, error) {
	stats := q.schedule.count()
	stats.Dead = q.dead.len()
	return stats, nil
}

// depth is Stats for the metrics.
func (q *Queue) depth() metrics.Depth {
	stats := q.schedule.count()
	depth := metrics.Depth{Pending: stats.Pending, Running: stats.Running, Dead: q.dead.len(), Installations: stats.Installations, Scans: q.index.len()}
	if !stats.Oldest.IsZero() {
		depth.Oldest = q.now().Sub(stats.Oldest)
	}
	return depth
}
