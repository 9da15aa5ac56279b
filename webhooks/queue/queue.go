package queue

import (
	"context"
	"errors"
	"time"
)

// What claims and look-ups end with.
var (
	// ErrSuperseded says that there is a newer job of the same subject, or that nobody
	// wants the job's result any more.
	ErrSuperseded = errors.New("superseded by a newer job")
	// ErrLost says that a claim could not be kept: others may have taken the job.
	ErrLost = errors.New("the claim on the job was lost")
	// ErrNotFound says that there is no such thing, or no longer.
	ErrNotFound = errors.New("not found")
	// ErrHeld says that another replica holds what was asked for.
	ErrHeld = errors.New("held by another replica")
)

var errTODO = errors.New("not yet")

// Queue is jobs, dead letters, scan records and reports. Its methods may be called from
// any goroutine.
type Queue struct{}

func Open(ctx context.Context, c Config) (*Queue, error) { return nil, errTODO }
func (q *Queue) Close(ctx context.Context) error         { return nil }
func (q *Queue) Ready(ctx context.Context) error         { return nil }

func (q *Queue) Enqueue(ctx context.Context, j Job) (Job, bool, error)         { return j, false, errTODO }
func (q *Queue) Seen(ctx context.Context, guid string) (bool, error)           { return false, errTODO }
func (q *Queue) Remember(ctx context.Context, guid, event string) error        { return errTODO }
func (q *Queue) Next(ctx context.Context) (*Claim, error)                      { return nil, errTODO }
func (q *Queue) Dead(ctx context.Context, limit int) ([]Dead, error)           { return nil, errTODO }
func (q *Queue) Revive(ctx context.Context, sequence uint64) (Job, error)      { return Job{}, errTODO }
func (q *Queue) Stats(ctx context.Context) (Stats, error)                      { return Stats{}, errTODO }
func (q *Queue) PutScan(ctx context.Context, s Scan) error                     { return errTODO }
func (q *Queue) Scan(ctx context.Context, id string) (Scan, error)             { return Scan{}, errTODO }
func (q *Queue) Scans(f ScanFilter) []Scan                                     { return nil }
func (q *Queue) WatchScan(ctx context.Context, id string) (<-chan Scan, error) { return nil, errTODO }
func (q *Queue) PutReport(ctx context.Context, id string, json []byte) error   { return errTODO }
func (q *Queue) Report(ctx context.Context, id string) ([]byte, error)         { return nil, errTODO }
func (q *Queue) Forget(ctx context.Context, installation int64, repositories []int64) error {
	return errTODO
}
func (q *Queue) Prune(ctx context.Context) error { return errTODO }

// Hold takes a name that one replica holds at a time, such as that of a task which only
// one should do. The context ends when release is called, with ctx, or when it could not
// be kept (its cause is then ErrLost). ErrHeld: another holds it.
func (q *Queue) Hold(ctx context.Context, name string) (held context.Context, release func(), err error) {
	return nil, nil, errTODO
}

// Claim is a job that this process works on. It ends with exactly one of Done, Retry,
// Bury and Release.
type Claim struct {
	// Job is what is to be done.
	Job Job
	// Attempt counts from 1.
	Attempt int
}

// Context ends when the work is to stop. Its cause is ErrSuperseded, ErrLost, or that of
// the context Next was called with.
func (c *Claim) Context() context.Context { return nil }

// Exhausted says that the job was tried too often; it is a dead letter already, and what is
// left to do is to tell about it.
func (c *Claim) Exhausted() bool { return false }

// Done says that the job needs nothing more.
func (c *Claim) Done(ctx context.Context) error { return errTODO }

// Retry gives the job back after its attempt failed, to be tried again later; after the
// last attempt it becomes a dead letter, and dead is true.
func (c *Claim) Retry(ctx context.Context, why error) (dead bool, err error) { return false, errTODO }

// Bury makes the job a dead letter at once.
func (c *Claim) Bury(ctx context.Context, why error) error { return errTODO }

// Release gives the job back as if it had not been claimed: this process ends.
func (c *Claim) Release(ctx context.Context) error { return errTODO }

// Dead is a job that was given up.
type Dead struct {
	Job      Job
	Why      string
	Attempts int
	At       time.Time
	// Sequence names it for Revive.
	Sequence uint64
}

// Stats is what the queue holds.
type Stats struct {
	// Pending jobs wait, Running ones are worked on, Dead ones were given up.
	Pending, Running, Dead int
	// Oldest is since when the oldest pending job waits; zero when none does.
	Oldest time.Time
	// Installations have pending or running jobs.
	Installations int
}
