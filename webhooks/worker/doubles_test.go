package worker

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/preadmit/preadmit/webhooks/jailed"
)

// hasty is a clock that does not wait.
type hasty struct{}

func (hasty) Now() time.Time                                   { return time.Now() }
func (hasty) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// gate is a scanner that tests can observe and block.
type gate struct {
	Scanner
	mu sync.Mutex
	// before is called for each scan; its error is returned by the scan.
	before func(ctx context.Context, r jailed.Request) error
	scans  int
	// keep makes all scans return the outcome of the first.
	keep bool
	kept *jailed.Outcome
}

func (g *gate) Scan(ctx context.Context, r jailed.Request, p jailed.Progress) (*jailed.Outcome, error) {
	g.mu.Lock()
	g.scans++
	before, kept := g.before, g.kept
	g.mu.Unlock()
	if before != nil {
		if err := before(ctx, r); err != nil {
			return nil, err
		}
	}
	if kept != nil {
		return kept, ctx.Err()
	}
	outcome, err := g.Scanner.Scan(ctx, r, p)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.keep && err == nil {
		g.kept = outcome
	}
	return outcome, err
}

// count returns the number of scans.
func (g *gate) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.scans
}

// on sets before.
func (g *gate) on(before func(ctx context.Context, r jailed.Request) error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.before = before
}

// hold blocks scans until release is called or their context ends.
func (g *gate) hold() (entered chan struct{}, release func()) {
	entered, open := make(chan struct{}, 10), make(chan struct{})
	g.on(func(ctx context.Context, _ jailed.Request) error {
		entered <- struct{}{}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-open:
			return nil
		}
	})
	return entered, func() { g.on(nil); close(open) }
}

var errScan = errors.New("the scanner is out of order")

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// wire counts requests, and can be cut.
type wire struct {
	mu sync.Mutex
	// left is how many requests pass before cut is called. Without cut all pass.
	left int
	cut  func(*http.Request) (*http.Response, error)
	n    int
}

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	w.mu.Lock()
	w.n++
	w.left--
	cut := w.cut
	if w.left >= 0 {
		cut = nil
	}
	w.mu.Unlock()
	if cut != nil {
		return cut(req)
	}
	return http.DefaultTransport.RoundTrip(req)
}

// cutAfter makes cut answer all requests except the next n; nil ends that.
func (w *wire) cutAfter(n int, cut func(*http.Request) (*http.Response, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left, w.cut = n, cut
}

// count returns the number of requests so far.
func (w *wire) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.n
}
