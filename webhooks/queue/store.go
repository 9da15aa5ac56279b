package queue

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/preadmit/preadmit/webhooks/metrics"
)

// Headers of the messages in a store's stream.
const (
	// writeHeader has the id of the write that made a message, so that a writer that got no
	// answer can see whether its write was accepted.
	writeHeader = "Preadmit-Write"
	// goneHeader marks a message that records a deletion.
	goneHeader = "Preadmit-Gone"
)

const (
	// markKey is a reserved key without an entry; see store.mark.
	markKey = "mark"
	// goneFor is how long the message of a deletion is kept, so that replicas that were
	// disconnected see it.
	goneFor = time.Hour
	// goneAlone is goneFor without other replicas: work that was in progress at the deletion
	// has to notice it.
	goneAlone = 5 * time.Minute
	// publishWait is the timeout of one attempt to write; a leader may be elected meanwhile.
	publishWait = 2 * time.Second
	// writeWait is the timeout of a write whose context has no deadline. GitHub waits
	// ten seconds for the response to a delivery.
	writeWait = 8 * time.Second
)

// errUnchanged is returned by a change to leave an entry as it is.
var errUnchanged = errors.New("unchanged")

// store is a stream with one message for each key: its current value. A write is one message,
// and the server accepts it only if nobody wrote since the entry it was made from. All changes
// by concurrent replicas are made this way.
type store[T any] struct {
	js     jetstream.JetStream
	stream jetstream.Stream
	// created is when the stream was made.
	created time.Time
	name    string
	prefix  string
	metrics *metrics.Queue
	log     *slog.Logger
	// goneFor is how long the message of a deletion is kept.
	goneFor time.Duration
	// share reduces the memory of a value that was read; nil does nothing.
	share func(*T)
}

// entry is the state of a key.
type entry[T any] struct {
	key string
	// value is nil when the key has none. It is never modified, only replaced.
	value *T
	// sequence is that of the message; 0 without one.
	sequence uint64
	// write is the id of the write that made it.
	write string
}

// change returns the next value of an entry, given the current one; nil means none. An error
// ends the update, and the entry stays.
type change[T any] func(now *T) (*T, error)

// update changes the entry of from's key; from is its presumed state. A non-empty id identifies
// the change: if one was made under the same id within the stream's window, this one is not
// made, and duplicate is true.
func (t *store[T]) update(ctx context.Context, from entry[T], id string, do change[T]) (now entry[T], duplicate bool, err error) {
	ctx, cancel := withPatience(ctx, writeWait)
	defer cancel()
	write := rand.Text()
	for {
		next, err := do(from.value)
		if err != nil {
			return from, false, err
		}
		sequence, duplicate, err := t.write(ctx, from, next, write, id)
		switch {
		case err == nil:
			return entry[T]{from.key, next, sequence, write}, duplicate, nil
		case permanent(err):
			return from, false, fmt.Errorf("writing %s.%s: %w", t.name, from.key, err)
		case !wrongSequence(err):
			// It may have been written; the server may know the id although nothing was written.
			id = ""
			if !pause(ctx, 50*time.Millisecond) {
				return from, false, fmt.Errorf("writing %s.%s: %w", t.name, from.key, err)
			}
		}
		if from, err = t.getPatiently(ctx, from.key); err != nil {
			return from, false, err
		}
		if from.write == write {
			return from, false, nil
		}
	}
}

// write makes one attempt to write next.
func (t *store[T]) write(ctx context.Context, from entry[T], next *T, name, id string) (uint64, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, publishWait)
	defer cancel()
	message := &nats.Msg{Subject: t.prefix + from.key, Header: nats.Header{writeHeader: {name}}}
	options := []jetstream.PublishOpt{jetstream.WithExpectLastSequencePerSubject(from.sequence)}
	if next == nil {
		message.Header.Set(goneHeader, "1")
		options = append(options, jetstream.WithMsgTTL(t.goneFor))
	} else {
		var err error
		if message.Data, err = json.Marshal(next); err != nil {
			return 0, false, err
		}
	}
	if id != "" {
		options = append(options, jetstream.WithMsgID(id))
	}
	start := time.Now()
	ack, err := t.js.PublishMsg(ctx, message, options...)
	if err != nil {
		return 0, false, err
	}
	t.metrics.Wrote(t.name, time.Since(start))
	return ack.Sequence, ack.Duplicate, nil
}

// get reads an entry from the stream's leader.
func (t *store[T]) get(ctx context.Context, key string) (entry[T], error) {
	message, err := t.stream.GetLastMsgForSubject(ctx, t.prefix+key)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return entry[T]{key: key}, nil
	}
	if err != nil {
		return entry[T]{key: key}, fmt.Errorf("reading %s.%s: %w", t.name, key, err)
	}
	return t.decode(message.Subject, message.Sequence, message.Header, message.Data), nil
}

// getPatiently reads until it succeeds or ctx ends.
func (t *store[T]) getPatiently(ctx context.Context, key string) (entry[T], error) {
	for {
		try, cancel := context.WithTimeout(ctx, publishWait)
		e, err := t.get(try, key)
		cancel()
		if err == nil || !pause(ctx, 50*time.Millisecond) {
			return e, err
		}
	}
}

// decode returns the entry of a message. An unreadable message counts as no value: otherwise it
// would block its key for ever.
func (t *store[T]) decode(subject string, sequence uint64, header nats.Header, data []byte) entry[T] {
	e := entry[T]{key: subject[len(t.prefix):], sequence: sequence, write: header.Get(writeHeader)}
	if header.Get(goneHeader) != "" || e.key == markKey {
		return e
	}
	value := new(T)
	if err := json.Unmarshal(data, value); err != nil {
		t.log.Error("what is stored cannot be read, and counts as nothing", "table", t.name, "key", e.key, "err", err)
		return e
	}
	if t.share != nil {
		t.share(value)
	}
	e.value = value
	return e
}

// mark writes a message without an entry, and returns its sequence. A watcher that has reached
// this sequence has seen all earlier writes.
func (t *store[T]) mark(ctx context.Context) (uint64, error) {
	ctx, cancel := withPatience(ctx, writeWait)
	defer cancel()
	ack, err := t.js.Publish(ctx, t.prefix+markKey, nil)
	if err != nil {
		return 0, fmt.Errorf("writing to %s: %w", t.name, err)
	}
	return ack.Sequence, nil
}

// wrongSequence reports whether a write was rejected because of a concurrent write.
func wrongSequence(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// permanent reports whether a retry cannot succeed.
func permanent(err error) bool {
	if err == nil || wrongSequence(err) {
		return false
	}
	var api *jetstream.APIError
	return errors.As(err, &api) && api.Code == 400 || errors.Is(err, nats.ErrMaxPayload) || errors.Is(err, nats.ErrConnectionClosed)
}

// withPatience returns ctx with a timeout of wait, unless ctx has a deadline.
func withPatience(ctx context.Context, wait time.Duration) (context.Context, context.CancelFunc) {
	if _, has := ctx.Deadline(); has {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, wait)
}

// pause waits for d, and returns false if ctx ended before.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
