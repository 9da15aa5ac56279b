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

// progress is a line on a terminal that shows the progress of a long scan and is removed at its
// end. A nil progress shows nothing.
type progress struct {
	w   io.Writer
	now func() time.Time

	mu    sync.Mutex
	next  time.Time // when to write again
	shown bool
	done  bool
}

// newProgress returns nil on a pipe, in CI and with -q.
func newProgress(p Process, quiet bool) *progress {
	if quiet || p.Getenv("CI") != "" || !isTerminal(p, p.Stderr) {
		return nil
	}
	return startProgress(p.Stderr, time.Now)
}

func startProgress(w io.Writer, now func() time.Time) *progress {
	return &progress{w: w, now: now, next: now().Add(progressAfter)}
}

// update shows the progress; it is scanner.Input.Progress.
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

// erase removes the line. It is not shown again.
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
