package retry

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"
)

// Options bound the patience. The zero value is that of a publisher.
type Options struct {
	// Tries bounds how often one request is sent, 5 when 0.
	Tries int
	// Timeout bounds one request and its answer, 30 seconds when 0.
	Timeout time.Duration
	// MaxWait is the longest wait for a rate limit, 5 minutes when 0. A limit that
	// lasts longer, or past the context's deadline, is not waited for.
	MaxWait time.Duration
	// Clock is the system's when nil.
	Clock Clock
}

// Clock returns the time and waits.
type Clock interface {
	Now() time.Time
	// Sleep waits for d or until ctx ends, and returns the context's error then.
	Sleep(ctx context.Context, d time.Duration) error
}

// SystemClock is the machine's.
type SystemClock struct{}

// Now is the time.
func (SystemClock) Now() time.Time { return time.Now() }

// Sleep waits.
func (SystemClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// WithDefaults returns the options that are meant by zero values.
func (o Options) WithDefaults() Options {
	o.Tries = cmp.Or(max(0, o.Tries), 5)
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	o.MaxWait = cmp.Or(o.MaxWait, 5*time.Minute)
	if o.Clock == nil {
		o.Clock = SystemClock{}
	}
	return o
}

// New is a transport that asks by another: http.DefaultTransport when next is nil.
func New(next http.RoundTripper, o Options) *Transport {
	if next == nil {
		next = http.DefaultTransport
	}
	return &Transport{opts: o.WithDefaults(), next: Bounded(next)}
}

// onceKey marks a context whose requests must not be repeated when it is unknown
// whether GitHub did them: they append or create.
type onceKey struct{}

// Once marks a context whose requests are not repeated when it is unknown whether GitHub
// did them. What a rate limit refused was not done, and is repeated.
func Once(ctx context.Context) context.Context { return context.WithValue(ctx, onceKey{}, true) }

// Permanent reports whether an error says of itself, by a method Permanent, that asking
// again does not end it.
func Permanent(err error) bool {
	var p interface{ Permanent() bool }
	return errors.As(err, &p) && p.Permanent()
}

// Backoff is the wait after the given number of failures.
func Backoff(failures int) time.Duration {
	return jitter(min(maxBackoff, firstBackoff<<min(failures-1, maxDoublings)))
}

// jitter is between half of d and d, so that many jobs do not come back at once.
func jitter(d time.Duration) time.Duration {
	return d/2 + rand.N(d/2+1)
}
