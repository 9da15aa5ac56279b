package cli

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

// Progress is a line on a terminal that shows the progress of a long scan and is removed at its
// end. A nil progress shows nothing.
type Progress struct {
	w   io.Writer
	now func() time.Time

	mu    sync.Mutex
	next  time.Time // when to write again
	shown bool
	done  bool
}

// NewProgress returns a progress on stderr, nil on a pipe, in CI and with -q.
func NewProgress(p Process, quiet bool) *Progress {
	if quiet || p.Getenv("CI") != "" || !isTerminal(p, p.Stderr) {
		return nil
	}
	return startProgress(p.Stderr, time.Now)
}

func startProgress(w io.Writer, now func() time.Time) *Progress {
	return &Progress{w: w, now: now, next: now().Add(progressAfter)}
}

// Update shows the progress; it is scanner.Input.Progress.
func (p *Progress) Update(stage string, done, total int) {
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

// Erase removes the line. It is not shown again.
func (p *Progress) Erase() {
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
