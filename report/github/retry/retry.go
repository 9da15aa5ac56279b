package retry

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"
)

// Options bounds retries and waits. The zero value has the defaults of a publisher.
type Options struct {
	// Tries bounds how often one request is sent, 5 when 0.
	Tries int
	// Timeout bounds one request and its response, 30 seconds when 0.
	Timeout time.Duration
	// MaxWait is the longest wait for a rate limit, 5 minutes when 0. There is no wait for
	// a limit that lasts longer, or past the context's deadline.
	MaxWait time.Duration
	// Clock is the system clock when nil.
	Clock Clock
}

// Clock returns the time and waits.
type Clock interface {
	Now() time.Time
	// Sleep waits for d or until ctx ends, and returns the context's error then.
	Sleep(ctx context.Context, d time.Duration) error
}

// SystemClock is the system clock.
type SystemClock struct{}

// Now returns the current time.
func (SystemClock) Now() time.Time { return time.Now() }

// Sleep implements Clock.
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

// WithDefaults returns the options with zero values replaced by their defaults.
func (o Options) WithDefaults() Options {
	o.Tries = cmp.Or(max(0, o.Tries), 5)
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	o.MaxWait = cmp.Or(o.MaxWait, 5*time.Minute)
	if o.Clock == nil {
		o.Clock = SystemClock{}
	}
	return o
}

// New returns a transport that sends requests through next, http.DefaultTransport when nil.
func New(next http.RoundTripper, o Options) *Transport {
	if next == nil {
		next = http.DefaultTransport
	}
	return &Transport{opts: o.WithDefaults(), next: Bounded(next)}
}

// onceKey is the context key that Once sets.
type onceKey struct{}

// Once returns a context whose requests are not repeated when it is unknown whether GitHub
// carried them out, for requests that append or create. A request that a rate limit refused
// was not carried out, and is repeated.
func Once(ctx context.Context) context.Context { return context.WithValue(ctx, onceKey{}, true) }

// Permanent reports whether an error has a method Permanent that returns true: a retry
// would give the same error.
func Permanent(err error) bool {
	var p interface{ Permanent() bool }
	return errors.As(err, &p) && p.Permanent()
}

// Backoff returns the wait after the given number of failures.
func Backoff(failures int) time.Duration {
	return jitter(min(maxBackoff, firstBackoff<<min(failures-1, maxDoublings)))
}

// jitter returns a random duration between d/2 and d, so that many jobs do not retry at once.
func jitter(d time.Duration) time.Duration {
	return d/2 + rand.N(d/2+1)
}
