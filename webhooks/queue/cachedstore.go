package queue

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// cachedStore is a store with a copy in memory, which a watcher keeps current. Writes of this
// process are in it at once.
type cachedStore[T any] struct {
	*store[T]
	// changed is called for each changed entry, in order of the changes; before.value is nil for
	// new entries. It must not call the cache.
	changed func(before, now entry[T])

	mutex   sync.Mutex
	entries map[string]kept[T]
	// gone maps keys to the sequences at which their entries were deleted, until the watcher has
	// passed the sequence and no change of the key is in progress: until then either may bring an
	// older entry.
	gone map[string]uint64
	// changing counts the changes in progress, by key.
	changing map[string]int
	// seen is the last sequence that the watcher brought.
	seen uint64
	// news is closed when seen changes.
	news chan struct{}
}

// kept is an entry of a cachedStore without its key.
type kept[T any] struct {
	value    *T
	sequence uint64
}

func newCachedStore[T any](t *store[T], changed func(before, now entry[T])) *cachedStore[T] {
	return &cachedStore[T]{
		store: t, changed: changed,
		entries: map[string]kept[T]{}, gone: map[string]uint64{}, changing: map[string]int{}, news: make(chan struct{}),
	}
}

// at returns the cached entry of a key.
func (m *cachedStore[T]) at(key string) entry[T] {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if e, ok := m.entries[key]; ok {
		return entry[T]{key: key, value: e.value, sequence: e.sequence}
	}
	return entry[T]{key: key, sequence: m.gone[key]}
}

// change updates the entry of a key, in the stream and in the cache.
func (m *cachedStore[T]) change(ctx context.Context, key, id string, do change[T]) (entry[T], bool, error) {
	defer m.begin(key)()
	from := m.at(key)
	e, duplicate, err := m.update(ctx, from, id, do)
	switch {
	case duplicate:
	case e.sequence > 0:
		m.apply(e)
	case err != nil && from.sequence > 0:
		m.drop(from)
	}
	return e, duplicate, err
}

// drop removes a cached entry that the stream no longer has: its deletion was missed.
func (m *cachedStore[T]) drop(stale entry[T]) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.entries[stale.key].sequence == stale.sequence {
		delete(m.entries, stale.key)
		m.changed(stale, entry[T]{key: stale.key})
	}
}

// read reads the entry of a key from the stream and updates the cache.
func (m *cachedStore[T]) read(ctx context.Context, key string) (entry[T], error) {
	defer m.begin(key)()
	e, err := m.get(ctx, key)
	if err == nil && e.sequence > 0 {
		m.apply(e)
	}
	return e, err
}

// begin keeps a later deletion of key in m.gone until end is called, so that an entry read from
// the stream before the deletion is not cached again.
func (m *cachedStore[T]) begin(key string) (end func()) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.changing[key]++
	return func() {
		m.mutex.Lock()
		defer m.mutex.Unlock()
		if m.changing[key]--; m.changing[key] == 0 {
			delete(m.changing, key)
			m.forget(key)
		}
	}
}

// forget removes a key from m.gone once no older entry can arrive.
func (m *cachedStore[T]) forget(key string) {
	if m.gone[key] <= m.seen && m.changing[key] == 0 {
		delete(m.gone, key)
	}
}

// apply stores e in the cache, unless a newer entry or deletion is known.
func (m *cachedStore[T]) apply(e entry[T]) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.put(e)
}

// put is apply for callers that hold the mutex.
func (m *cachedStore[T]) put(e entry[T]) {
	old, had := m.entries[e.key]
	if e.sequence <= max(old.sequence, m.gone[e.key]) {
		return
	}
	e.write = "" // only a writer needs it, and it keeps all of a message's headers in memory
	if e.value == nil {
		delete(m.entries, e.key)
		m.gone[e.key] = e.sequence
		m.forget(e.key)
	} else {
		m.entries[e.key] = kept[T]{e.value, e.sequence}
		delete(m.gone, e.key)
	}
	if had || e.value != nil {
		m.changed(entry[T]{key: e.key, value: old.value, sequence: old.sequence}, e)
	}
}

// take applies a message of the watcher.
func (m *cachedStore[T]) take(message jetstream.Msg) {
	about, err := message.Metadata()
	if err != nil {
		m.log.Error("a message without its place", "table", m.name, "err", err)
		return
	}
	m.taken(m.decode(message.Subject(), about.Sequence.Stream, message.Headers(), message.Data()))
}

// taken applies an entry that the watcher brought. A consumer that is being replaced may still
// deliver messages after its successor, which has delivered them as well.
func (m *cachedStore[T]) taken(e entry[T]) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if e.sequence <= m.seen {
		return
	}
	m.seen = e.sequence
	if e.key != markKey {
		m.put(e)
	}
	m.forget(e.key)
	close(m.news)
	m.news = make(chan struct{})
}

// watch keeps the cache current until ctx ends. If the stream lost messages, it calls lost and returns.
func (m *cachedStore[T]) watch(ctx context.Context, lost func(error)) {
	for ctx.Err() == nil {
		if err := m.follow(ctx); err != nil && ctx.Err() == nil {
			m.log.Warn("following changes failed; trying again", "table", m.name, "err", err)
		}
		pause(ctx, time.Second)
		if err := m.intact(ctx); err != nil && ctx.Err() == nil {
			lost(err)
			return
		}
	}
}

// follow receives changes until ctx ends or the consumer fails. Then watch creates another
// consumer: the library would keep using the same one, which may have been on a server that
// is gone.
func (m *cachedStore[T]) follow(ctx context.Context) error {
	m.mutex.Lock()
	config := jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: m.seen + 1, MaxResetAttempts: 1}
	m.mutex.Unlock()
	consumer, err := m.stream.OrderedConsumer(ctx, config)
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	consuming, err := consumer.Consume(m.take, jetstream.PullExpiry(5*time.Second), jetstream.PullHeartbeat(time.Second),
		jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) {
			select {
			case failed <- err:
			default:
			}
		}))
	if err != nil {
		return err
	}
	defer consuming.Stop()
	select {
	case <-ctx.Done():
	case <-consuming.Closed():
	case err := <-failed:
		return err
	}
	return nil
}

// reach waits until the watcher has reached a sequence.
func (m *cachedStore[T]) reach(ctx context.Context, sequence uint64) error {
	for {
		m.mutex.Lock()
		seen, news := m.seen, m.news
		m.mutex.Unlock()
		if seen >= sequence {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("following changes of %s: %w", m.name, ctx.Err())
		case <-news:
		}
	}
}

// catchUp waits until the watcher has seen everything written so far; it writes a mark for that.
func (m *cachedStore[T]) catchUp(ctx context.Context) error {
	sequence, err := m.mark(ctx)
	if err != nil {
		return err
	}
	return m.reach(ctx, sequence)
}

// all returns the entries, in no order.
func (m *cachedStore[T]) all() []entry[T] {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	entries := make([]entry[T], 0, len(m.entries))
	for key, e := range m.entries {
		entries = append(entries, entry[T]{key: key, value: e.value, sequence: e.sequence})
	}
	return entries
}

// len returns the number of entries.
func (m *cachedStore[T]) len() int {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return len(m.entries)
}
