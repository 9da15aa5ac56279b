package jailed

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/report/format/escape"
)

// Fetcher fetches artifacts for scans. A child only names what it lacks; the rules for what may be
// fetched are out of its control.
type Fetcher interface {
	// Begin begins to fetch for a scan, and returns the artifacts that are available already.
	Begin(context.Context, Request) (Fetching, []Fetched, error)
}

// Fetching fetches for one scan. It is used by one goroutine.
type Fetching interface {
	// Dir is a store with the artifacts of this scan only. Children read it.
	Dir() string
	// Fetch fetches what a child lacks, and returns the outcome of each.
	Fetch(context.Context, []Lack) []Fetched
	// End removes the store.
	End()
}

// Lack is a missing artifact that a tree of the change refers to.
type Lack struct {
	// Base is set for the tree of the base.
	Base     bool              `json:"base,omitempty"`
	Artifact artifact.Artifact `json:"artifact"`
}

// Fetched is the outcome of fetching an artifact: its pin, or why it is missing.
type Fetched struct {
	Lack
	Pin artifact.Pin `json:"pin"`
	// Why is one line for people, without control characters; empty if it was fetched.
	Why string `json:"why,omitempty"`
}

// Artifacts are the artifacts that a child may read.
type Artifacts struct {
	Dir     string    `json:"dir"`
	Fetched []Fetched `json:"fetched,omitempty"`
	// Last is set when nothing more is fetched.
	Last bool `json:"last,omitempty"`
}

// LacksMessage is the last message of a child that lacks artifacts.
type LacksMessage struct {
	Artifacts []Lack `json:"artifacts"`
}

const (
	// maxRounds is how often a child is started again with newly fetched artifacts: the
	// maximum depth of artifacts that need others.
	maxRounds = 8
	// MaxLacks is how many artifacts a child may name at once.
	MaxLacks = 1000
)

// check returns an error for a message that no scan would send.
func (m *LacksMessage) check() error {
	if len(m.Artifacts) == 0 || len(m.Artifacts) > MaxLacks {
		return fmt.Errorf("%w: it lacks %d artifacts", ErrForged, len(m.Artifacts))
	}
	for _, l := range m.Artifacts {
		if err := l.Artifact.Check(); err != nil {
			return fmt.Errorf("%w: an artifact that is none: %v", ErrForged, err)
		}
	}
	return nil
}

// outside has the artifacts of a scan.
type outside struct {
	fetching Fetching
	fetched  []Fetched
	rounds   int
}

// begin begins to fetch. It returns nil without a fetcher.
func (t *attempts) begin(ctx context.Context) (*outside, error) {
	if t.scanner.Fetcher == nil {
		return nil, nil
	}
	fetching, there, err := t.scanner.Fetcher.Begin(ctx, t.request)
	if err != nil {
		return nil, t.failed(ctx, fmt.Errorf("artifacts: %w", err))
	}
	return &outside{fetching: fetching, fetched: there}, nil
}

// artifacts returns the artifacts for the next child.
func (o *outside) artifacts() *Artifacts {
	if o == nil {
		return nil
	}
	return &Artifacts{Dir: o.fetching.Dir(), Fetched: o.fetched, Last: o.rounds >= maxRounds}
}

// end removes the scan's artifacts.
func (o *outside) end() {
	if o != nil {
		o.fetching.End()
	}
}

// fetch fetches what a child lacks. The time for that does not count in Limits.Wall.
func (t *attempts) fetch(ctx context.Context, lacks []Lack) error {
	if t.outside == nil || t.outside.rounds >= maxRounds {
		return &forgedError{"it requests artifacts, and fetching is off"}
	}
	for _, l := range lacks {
		if slices.ContainsFunc(t.outside.fetched, func(f Fetched) bool { return f.Lack == l }) {
			return &forgedError{fmt.Sprintf("it asks again for %s", escape.Line(l.Artifact.String()))}
		}
	}
	t.outside.rounds++
	t.wall.pause()
	defer t.wall.resume()
	t.outside.fetched = append(t.outside.fetched, t.outside.fetching.Fetch(ctx, lacks)...)
	if ctx.Err() != nil {
		return t.failed(ctx, context.Cause(ctx))
	}
	return nil
}

// wall ends a scan that takes too long. The time during which it is paused does not count.
type wall struct {
	timer *time.Timer
	left  time.Duration
	since time.Time
}

// newWall returns a context that ends with errWall after limit.
func newWall(ctx context.Context, limit time.Duration) (context.Context, *wall, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &wall{left: limit, since: time.Now(), timer: time.AfterFunc(limit, func() { cancel(errWall) })}
	return ctx, w, func() {
		w.timer.Stop()
		cancel(context.Canceled)
	}
}

func (w *wall) pause() {
	w.timer.Stop()
	w.left -= time.Since(w.since)
}

func (w *wall) resume() {
	w.since = time.Now()
	w.timer.Reset(max(0, w.left))
}
