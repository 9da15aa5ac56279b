package worker

import (
	"context"
	"errors"
	"syscall"

	"github.com/preadmit/preadmit/render/tree/gittree"
	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/app"
	"github.com/preadmit/preadmit/webhooks/jailed"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// finalError is a failure that a retry cannot fix.
type finalError struct{ err error }

func (e *finalError) Error() string { return e.err.Error() }
func (e *finalError) Unwrap() error { return e.err }

// lateError means that GitHub has not created the merge commit yet.
type lateError struct{ why string }

func (e *lateError) Error() string { return e.why }

// overtaken is the error of a job that must not be judged, or no longer.
type overtaken struct {
	// why is a sentence for people, like "The pull request is closed."
	why string
	// again is set if a job for another state has to be enqueued, and head is the head that
	// the pull request has now.
	again bool
	head  string
}

func (o *overtaken) Error() string { return o.why }

// storeError means that the queue, or the disk, failed to store something: the job is not the cause.
type storeError struct{ error }

func (e *storeError) Unwrap() error { return e.error }

// asStoreError wraps an error of the queue in a storeError if its cause may go away by itself.
func asStoreError(err error) error {
	if err == nil || errors.Is(err, queue.ErrLost) || errors.Is(err, queue.ErrSuperseded) || !queue.Unavailable(err) {
		return err
	}
	return &storeError{err}
}

// enqueue stores a job.
func (w *Worker) enqueue(ctx context.Context, j queue.Job) (queue.Job, bool, error) {
	stored, fresh, err := w.Queue.Enqueue(ctx, j)
	return stored, fresh, asStoreError(err)
}

// end is how a job ends.
type end int

const (
	endDone       end = iota // nothing is left to do
	endSuperseded            // a newer job replaces it
	endLost                  // another process has it, or will
	endReleased              // this process has to stop, or GitHub rejects its credentials
	endOvertaken             // it is outdated according to GitHub
	endRefused               // the repository is the cause, and its check run explains it
	endFailed                // it cannot be done
	endRetried               // a later attempt may succeed
	endPostponed             // a rate limit, no merge commit yet, or nothing can be stored
)

// endOf returns how a job ends whose work returned err. The cause that ended its context takes
// precedence over err.
func endOf(ctx context.Context, err error) end {
	var left *overtaken
	cause := context.Cause(ctx)
	switch {
	case err == nil:
		return endDone
	case errors.Is(cause, queue.ErrLost) || errors.Is(err, queue.ErrLost):
		return endLost
	case errors.As(err, &left) && !(left.again && errors.Is(cause, queue.ErrSuperseded)):
		return endOvertaken
	case errors.Is(cause, queue.ErrSuperseded) || errors.Is(err, queue.ErrSuperseded):
		return endSuperseded
	case ctx.Err() == nil:
		return endOfFailure(err)
	}
	return endReleased
}

func endOfFailure(err error) end {
	var final *finalError
	var input *jailed.InputError
	var death *jailed.DeathError
	var limit *gittree.LimitError
	var refused *github.Error
	var late *lateError
	var store *storeError
	switch {
	case errors.As(err, &late), errors.As(err, &store), errors.Is(err, syscall.ENOSPC):
		return endPostponed
	case errors.Is(err, app.ErrCredentials):
		return endReleased
	case errors.As(err, &input), errors.As(err, &limit) && limit.Limit != gittree.LimitTime:
		return endRefused
	case errors.As(err, &final), errors.As(err, &death),
		errors.Is(err, jailed.ErrForged), errors.Is(err, app.ErrGone), errors.Is(err, app.ErrSuspended):
		return endFailed
	case errors.As(err, &refused) && refused.Kind == github.KindLimited:
		return endPostponed
	case errors.As(err, &refused) && (refused.Degrades() || refused.Kind == github.KindRejected):
		return endFailed
	}
	return endRetried
}

// gone reports whether err means that something does not exist, or is not accessible to us.
func gone(err error) bool {
	var refused *github.Error
	return errors.Is(err, app.ErrGone) || errors.As(err, &refused) && refused.Kind == github.KindMissing
}
