package jailed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"time"

	"github.com/preadmit/preadmit/internal/jail"
	"github.com/preadmit/preadmit/report/format/escape"
)

// Reasons for which the parent ends a child.
var (
	errWall = errors.New("the scan took too long")
	errSlow = errors.New("a root took too long")
)

func (l Limits) withDefaults() Limits {
	if l.Memory == 0 {
		l.Memory = 2 << 30
	}
	if l.Wall == 0 {
		l.Wall = 5 * time.Minute
	}
	if l.Root == 0 {
		l.Root = l.Wall / 4
	}
	if l.Workers == 0 {
		l.Workers = runtime.GOMAXPROCS(0)
	}
	if l.CPU == 0 {
		l.CPU = time.Duration(l.Workers) * l.Wall
	}
	if l.Output == 0 {
		l.Output = 64 << 20
	}
	if l.Retries == 0 {
		l.Retries = 8
	}
	return l
}

// Scan scans a change. When ctx ends, the child and all its processes are killed at once, and the
// error is the cause of ctx. Other errors are an *InputError if the cause is in the repository,
// a *DeathError if children died and no single root can be left out, a *jail.UnavailableError
// if the system does not support the jail, and ErrForged if a child's output is none of a scan.
func (s *Scanner) Scan(ctx context.Context, request Request, progress Progress) (*Outcome, error) {
	t := &attempts{
		scanner: s, limits: s.Limits.withDefaults(), request: request, progress: progress,
		log: s.Log, asked: ctx,
	}
	if t.log == nil {
		t.log = slog.New(slog.DiscardHandler)
	}
	if err := jail.Check(); err != nil && s.BestEffort {
		t.log.Warn("scanning without the whole jail: what a pull request holds may reach what this process can", "lacking", err.Error())
	}
	ctx, wall, cancel := newWall(ctx, t.limits.Wall)
	defer cancel()
	t.wall = wall
	var err error
	if t.outside, err = t.begin(ctx); err != nil {
		return nil, err
	}
	defer t.outside.end()
	return t.run(ctx)
}

// attempts is the state of one Scan: it starts one child after the other, until one reports.
type attempts struct {
	scanner  *Scanner
	limits   Limits
	request  Request
	progress Progress
	log      *slog.Logger
	// asked is the caller's context, without our limit.
	asked context.Context

	wall    *wall
	refused []Refusal
	died    []Death
	// outside is nil when nothing is fetched.
	outside *outside
}

func (t *attempts) run(ctx context.Context) (*Outcome, error) {
	workers := t.limits.Workers
	for {
		child, err := t.start(ctx, workers)
		if err != nil {
			return nil, t.failed(ctx, err)
		}
		outcome, death, err := child.outcome()
		if err != nil {
			return nil, err
		}
		if outcome != nil {
			outcome.Died = t.died
			return outcome, nil
		}
		if t.asked.Err() != nil {
			return nil, context.Cause(t.asked)
		}
		if death == nil { // it lacks artifacts
			if err := t.fetch(ctx, child.lacks); err != nil {
				return nil, err
			}
			continue
		}
		t.died = append(t.died, *death)
		several := len(child.monitor.suspects()) > 1 && death.Root == ""
		if ctx.Err() != nil || len(t.died) > t.limits.Retries || !t.learn(death) && !(several && workers > 1) {
			return nil, &DeathError{Stage: child.monitor.stage, Death: *death, Tries: len(t.died)}
		}
		if several {
			workers = 1 // to find the cause
		}
	}
}

// learn omits the root of a death from the next job, and reports whether that changes
// anything.
func (t *attempts) learn(d *Death) bool {
	if d.Root == "" {
		return false
	}
	for _, known := range t.refused {
		if string(known.Root) == d.Root {
			return false
		}
	}
	t.refused = append(t.refused, Refusal{
		Root: []byte(d.Root),
		Why:  "the process that rendered it " + d.Why + ", so it is left out and not judged",
	})
	return true
}

// failed returns the error for a child that did not start.
func (t *attempts) failed(ctx context.Context, err error) error {
	if t.asked.Err() != nil {
		return context.Cause(t.asked)
	}
	unavailable := new(jail.UnavailableError)
	if ctx.Err() != nil || errors.Is(err, jail.ErrMemory) && !errors.As(err, &unavailable) {
		why, limit := t.limits.describe(jail.Ended{Cause: err})
		return &DeathError{Death: Death{Why: why, Limit: limit}, Tries: len(t.died) + 1}
	}
	return fmt.Errorf("scan in a jail: %w", err)
}

// child is one attempt.
type child struct {
	*jail.Child
	attempts *attempts
	monitor  *monitor
	// slow is the root that took too long. It may be read after done is closed.
	slow string
	// lacks are the artifacts in its last message.
	lacks []Lack
	done  chan struct{}
}

// start starts a child with the job.
func (t *attempts) start(ctx context.Context, workers int) (*child, error) {
	artifacts := t.outside.artifacts()
	input, err := json.Marshal(Job{Request: t.request, Workers: workers, Refused: t.refused, Artifacts: artifacts})
	if err != nil {
		return nil, fmt.Errorf("encode the job: %w", err)
	}
	read := []string{t.request.Repository}
	if t.request.BaseRepository != "" {
		read = append(read, t.request.BaseRepository)
	}
	if artifacts != nil {
		read = append(read, artifacts.Dir)
	}
	c := jail.Command{
		Program: t.scanner.Program, Args: t.scanner.Args, Read: read, Input: input,
		Env: []string{
			fmt.Sprintf("GOMEMLIMIT=%d", t.limits.Memory/4*3),
			fmt.Sprintf("GOMAXPROCS=%d", t.limits.Workers),
			"GOTRACEBACK=single",
		},
		Limits:     jail.Limits{Memory: t.limits.Memory, CPU: t.limits.CPU},
		BestEffort: t.scanner.BestEffort,
	}
	started, err := c.Start(ctx)
	if err != nil {
		return nil, err
	}
	out := &child{Child: started, attempts: t, monitor: newMonitor(t.progress, t.limits.Root), done: make(chan struct{})}
	go out.watchTime()
	return out, nil
}

// watchTimeEvery is how often the times of roots are checked.
const watchTimeEvery = 100 * time.Millisecond

// watchTime kills the child when a root takes too long.
func (c *child) watchTime() {
	defer close(c.done)
	ticker := time.NewTicker(watchTimeEvery)
	defer ticker.Stop()
	for {
		select {
		case <-c.Ended():
			return
		case now := <-ticker.C:
			if root, ok := c.monitor.slow(now); ok {
				c.slow = root
				c.Kill(errSlow)
				return
			}
		}
	}
}

// read decodes an answer. Only one is decoded at a time, since a forged one may need much
// memory.
func (t *attempts) read(a *answer) (*Outcome, error) {
	t.scanner.reading.Lock()
	defer t.scanner.reading.Unlock()
	return a.outcome(&t.request, t.refused)
}

// outcome waits for the child. If all results are nil, c.lacks has the missing artifacts.
func (c *child) outcome() (*Outcome, *Death, error) {
	answer, err := c.monitor.listen(c.Results, c.attempts.limits.Output)
	defer c.monitor.end()
	if err != nil && !errors.Is(err, io.EOF) {
		c.Kill(err)
	}
	end := c.Wait()
	<-c.done
	if err == nil && answer.Answer != nil {
		var outcome *Outcome
		if outcome, err = c.attempts.read(answer); err == nil {
			return outcome, nil, nil
		}
	}
	switch {
	case errors.Is(err, ErrForged):
		return nil, nil, c.forged(err, end)
	case err == nil && answer.Lacks != nil:
		c.lacks = answer.Lacks.Artifacts
		return nil, nil, nil
	case err == nil && answer.Mistake != nil:
		return nil, nil, &InputError{Message: text(answer.Mistake.Message)}
	case err == nil && answer.Failure != nil:
		return nil, nil, fmt.Errorf("scan in a jail: %s", firstLine(answer.Failure.Message))
	case errors.Is(err, errTooMuch):
		end.Cause = err
	}
	return nil, c.death(end), nil
}

func (c *child) forged(err error, end jail.Ended) error {
	c.attempts.log.Error("a process in its jail does what no scan does: a repository may have taken it over",
		"repository", c.attempts.request.Repository, "head", c.attempts.request.Head, "error", err.Error(), "said", end.Output)
	return &forgedError{escape.Line(err.Error())}
}

// death returns the Death of the child, with the root that is the cause if it is known.
func (c *child) death(end jail.Ended) *Death {
	d := &Death{}
	d.Why, d.Limit = c.attempts.limits.describe(end)
	suspects := c.monitor.suspects()
	switch {
	case errors.Is(end.Cause, errSlow):
		d.Root = c.slow
	case len(suspects) == 1:
		d.Root = suspects[0]
	}
	c.attempts.log.Warn("a scan's process died", "head", c.attempts.request.Head, "stage", c.monitor.stage,
		"roots", suspects, "why", d.Why, "code", end.Code, "signal", end.Signal, "said", end.Output)
	return d
}
