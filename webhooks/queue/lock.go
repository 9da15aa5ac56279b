package queue

import (
	"context"
	"crypto/rand"
	"fmt"
)

// Lock locks a name, such as that of a task, for this replica: letters, digits and '-'. held ends
// with ctx, when release is called, and when the lock was lost; its cause is then ErrLost. The
// error is ErrLocked if another replica has the lock. The lock of a dead process is free after
// the lease.
func (q *Queue) Lock(ctx context.Context, name string) (held context.Context, release func(), err error) {
	if err := checkID(name); err != nil {
		return nil, nil, err
	}
	mine := holder{Owner: q.owner, Claim: rand.Text()}
	e, _, err := q.locks.update(ctx, entry[holder]{key: name}, "", func(now *holder) (*holder, error) {
		if now != nil {
			return nil, ErrLocked
		}
		return &mine, nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("holding %q: %w", name, err)
	}
	held, cancel := context.WithCancelCause(ctx)
	beating, stop := context.WithCancel(q.context)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := q.keepLock(beating, e); err != nil || q.context.Err() != nil {
			cancel(ErrLost)
		}
	}()
	return held, func() {
		stop()
		<-ended
		cancel(context.Canceled)
		q.unlock(ctx, name, mine.Claim)
	}, nil
}

// keepLock renews the lock: the stream removes messages older than the lease.
func (q *Queue) keepLock(ctx context.Context, e entry[holder]) error {
	claim := e.value.Claim
	return beat(ctx, q.config.Lease, func(ctx context.Context) error {
		next, _, err := q.locks.update(ctx, e, "", func(now *holder) (*holder, error) {
			if now == nil || now.Claim != claim {
				return nil, ErrLost
			}
			return now.beat(), nil
		})
		if err == nil {
			e = next
		}
		return err
	})
}

// unlock releases a name. If that fails, it is free after the lease.
func (q *Queue) unlock(ctx context.Context, name, claim string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), publishWait)
	defer cancel()
	e, err := q.locks.get(ctx, name)
	if err == nil && e.value != nil && e.value.Claim == claim {
		_, _, err = q.locks.update(ctx, e, "", func(now *holder) (*holder, error) {
			if now == nil || now.Claim != claim {
				return nil, errUnchanged
			}
			return nil, nil
		})
	}
	if err != nil {
		q.config.Log.Warn("letting go failed", "name", name, "err", err)
	}
}
