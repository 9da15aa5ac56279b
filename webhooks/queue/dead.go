package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// mostDead is the maximum number of dead letters; the oldest are removed first.
const mostDead = 10000

// Dead is a dead letter: a job that will not be tried again.
type Dead struct {
	Job Job `json:"job"`
	// Why is one line.
	Why      string    `json:"why"`
	Attempts int       `json:"attempts"`
	At       time.Time `json:"at"`
	// Sequence identifies it for Revive.
	Sequence uint64 `json:"-"`
}

// putDead stores a dead letter. Each job has at most one.
func (q *Queue) putDead(ctx context.Context, j Job, why string, attempts int) error {
	_, _, err := q.dead.change(ctx, j.Subject()+"."+j.ID, "", func(*Dead) (*Dead, error) {
		return &Dead{Job: j, Why: why, Attempts: attempts, At: q.now()}, nil
	})
	return err
}

// Dead returns the dead letters, the newest first; limit 0 returns all.
func (q *Queue) Dead(_ context.Context, limit int) ([]Dead, error) {
	letters := make([]Dead, 0)
	for _, e := range q.dead.all() {
		letter := *e.value
		letter.Sequence = e.sequence
		letters = append(letters, letter)
	}
	slices.SortFunc(letters, func(a, b Dead) int { return cmp.Compare(b.Sequence, a.Sequence) })
	if limit > 0 && len(letters) > limit {
		letters = letters[:limit]
	}
	return letters, nil
}

// Revive turns a dead letter into a job again, with a new id, and returns that job. If its subject
// has a job already, it returns that one, which is newer. ErrNotFound means that there is no
// such letter.
func (q *Queue) Revive(ctx context.Context, sequence uint64) (Job, error) {
	for _, e := range q.dead.all() {
		if e.sequence == sequence {
			return q.revive(ctx, e)
		}
	}
	return Job{}, fmt.Errorf("dead letter %d: %w", sequence, ErrNotFound)
}

// revive stores the job before it removes the letter: after a crash in between both exist, and
// another Revive finds the job.
func (q *Queue) revive(ctx context.Context, e entry[Dead]) (Job, error) {
	j := e.value.Job
	j.ID, j.Delivery = "", ""
	j, err := q.complete(j)
	if err != nil {
		return j, err
	}
	left, _, err := q.jobs.change(ctx, j.Subject(), "", func(now *record) (*record, error) {
		if now != nil {
			return nil, errUnchanged
		}
		return &record{Job: j, Waiting: j.Created}, nil
	})
	if err != nil && !errors.Is(err, errUnchanged) {
		return j, fmt.Errorf("reviving dead letter %d: %w", e.sequence, err)
	}
	return left.value.Job, q.dropDead(ctx, e)
}

// dropDead removes a letter unless it was replaced.
func (q *Queue) dropDead(ctx context.Context, e entry[Dead]) error {
	_, _, err := q.dead.change(ctx, e.key, "", func(now *Dead) (*Dead, error) {
		if now == nil || !e.value.At.Equal(now.At) {
			return nil, errUnchanged
		}
		return nil, nil
	})
	if err != nil && !errors.Is(err, errUnchanged) {
		return fmt.Errorf("removing dead letter %d: %w", e.sequence, err)
	}
	return nil
}
