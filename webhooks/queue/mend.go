package queue

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// mendEvery is how often the embedded server is looked at.
const mendEvery = time.Second

// mend starts the embedded server again when it takes no writes and the disk does: one write
// that failed has a stream refuse all others, for as long as the server lives.
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
		if err := errors.Join(q.embedded.Restart(), q.intact(q.context)); err != nil && q.context.Err() == nil {
			q.config.Failed(err)
			return
		}
	}
}

// intact reports whether the streams have all that this process has seen of them. A server
// that could not write may have shown a message that is not there any more.
func (q *Queue) intact(ctx context.Context) error {
	return errors.Join(q.jobs.intact(ctx), q.scans.intact(ctx), q.dead.intact(ctx))
}

// intact is Queue.intact for one stream.
func (m *cachedStore[T]) intact(ctx context.Context) error {
	for {
		try, cancel := context.WithTimeout(ctx, publishWait)
		about, err := m.stream.Info(try)
		cancel()
		if err == nil {
			m.mutex.Lock()
			defer m.mutex.Unlock()
			if about.State.LastSeq < m.seen {
				return fmt.Errorf("dataDir: the stream of %s ends at %d, and %d was seen of it: what is in memory is not on the disk", m.name, about.State.LastSeq, m.seen)
			}
			return nil
		}
		if !pause(ctx, 50*time.Millisecond) {
			return err
		}
	}
}
