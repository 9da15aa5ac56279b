package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// mendEvery is how often the health of the embedded server is checked.
const mendEvery = time.Second

// mend restarts the embedded server when it rejects writes although the disk accepts them: after
// one failed write a stream rejects all others until the server is restarted.
func (q *Queue) mend() {
	full := false
	for pause(q.context, mendEvery) {
		sick := q.embedded.Health()
		if sick == nil {
			continue
		}
		if err := q.embedded.TryDisk(); err != nil {
			if !full {
				q.config.Log.Error("the queue takes nothing until the disk does", "err", err, "because", sick)
			}
			full = true
			continue
		}
		full = false
		q.config.Log.Warn("the embedded server is started again, since it takes no writes but the disk does", "because", sick)
		if err := q.embedded.Restart(); err != nil && q.context.Err() == nil {
			q.config.Failed(err)
			return
		}
		if err := q.intact(q.context); err != nil && q.context.Err() == nil {
			q.lost(err)
			return
		}
	}
}

// intact returns an error unless the streams have all messages that this process has seen.
func (q *Queue) intact(ctx context.Context) error {
	return errors.Join(q.jobs.intact(ctx), q.scans.intact(ctx), q.dead.intact(ctx))
}

// lost reports that this process knows things that are not stored. A restart of the service reads
// what is stored.
func (q *Queue) lost(err error) {
	key := "nats.url"
	if q.embedded != nil {
		key = "dataDir"
	}
	q.config.Failed(fmt.Errorf("%s: %w; start the service again, which goes by what is stored", key, err))
}

// missingFor is how long a stream must be missing before it counts as deleted: a starting cluster
// may briefly report existing streams as missing.
const missingFor = 10 * time.Second

// intact does the work of Queue.intact for one stream. An embedded server that could not write may
// have delivered a message that is no longer stored; an external one may have lost its disk, or
// its stream may have been deleted. It waits for a server that answers.
func (m *cachedStore[T]) intact(ctx context.Context) error {
	var missing time.Time
	for {
		try, cancel := context.WithTimeout(ctx, publishWait)
		about, err := m.stream.Info(try)
		cancel()
		switch {
		case err == nil:
			return m.holds(about)
		case !errors.Is(err, jetstream.ErrStreamNotFound):
			missing = time.Time{}
		case missing.IsZero():
			missing = time.Now()
		case time.Since(missing) > missingFor:
			return fmt.Errorf("the stream of %s is gone, and with it what is in memory", m.name)
		}
		if !pause(ctx, 250*time.Millisecond) {
			return err
		}
	}
}

// holds checks the server's information about the stream.
func (m *cachedStore[T]) holds(about *jetstream.StreamInfo) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	switch {
	case !about.Created.Equal(m.created):
		return fmt.Errorf("the stream of %s was made anew at %s: what is in memory is not stored", m.name, about.Created.Format(time.RFC3339))
	case about.State.LastSeq < m.seen:
		return fmt.Errorf("the stream of %s ends at %d, and %d was seen of it: what is in memory is not stored", m.name, about.State.LastSeq, m.seen)
	}
	return nil
}
