package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	progressAfter = time.Second            // shorter work shows nothing
	progressEvery = 100 * time.Millisecond // a terminal is slow
)

// progress is a line on a terminal that says what a long scan is doing, and is
// gone when it is done. The nil progress says nothing.
type progress struct {
	w   io.Writer
	now func() time.Time

	mu    sync.Mutex
	next  time.Time // when to write again
	shown bool
	done  bool
}

// newProgress is nil when nobody watches: on a pipe, in CI, with -q.
func newProgress(p Process, quiet bool) *progress {
	if quiet || p.Getenv("CI") != "" || !isTerminal(p, p.Stderr) {
		return nil
	}
	return startProgress(p.Stderr, time.Now)
}

func startProgress(w io.Writer, now func() time.Time) *progress {
	return &progress{w: w, now: now, next: now().Add(progressAfter)}
}

// update is scanner.Input.Progress.
func (p *progress) update(stage string, done, total int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.done || now.Before(p.next) {
		return
	}
	p.next = now.Add(progressEvery)
	line := stage
	if total > 0 {
		line = fmt.Sprintf("%s %d/%d", stage, done, total)
	}
	p.shown = true
	_, _ = fmt.Fprintf(p.w, "\r\x1b[K%s", line)
}

// erase takes the line away for good.
func (p *progress) erase() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = true
	if p.shown {
		_, _ = fmt.Fprint(p.w, "\r\x1b[K")
	}
}
