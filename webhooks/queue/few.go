package queue

import (
	"context"
	"errors"
)

// keepFew drops the oldest scans that ended as soon as there are too many, until the queue
// is closed. Prune would come too late when very many end.
func (q *Queue) keepFew() {
	for {
		select {
		case <-q.context.Done():
			return
		case <-q.book.full:
			if err := q.dropMany(q.context); err != nil && q.context.Err() == nil {
				q.config.Log.Warn("scans beyond those that are kept could not be dropped yet", "err", err)
			}
		}
	}
}

// dropMany leaves it to another replica if one is at it.
func (q *Queue) dropMany(ctx context.Context) error {
	if !q.board.alone {
		_, release, err := q.Hold(ctx, "few-scans")
		if errors.Is(err, ErrHeld) {
			return nil
		}
		if err != nil {
			return err
		}
		defer release()
	}
	return q.pruneScans(ctx)
}
