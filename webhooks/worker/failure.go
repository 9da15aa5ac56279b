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

// finalError is a failure that trying again does not mend.
type finalError struct{ err error }

func (e *finalError) Error() string { return e.err.Error() }
func (e *finalError) Unwrap() error { return e.err }

// lateError says that GitHub does not know yet what is to be judged.
type lateError struct{ why string }

func (e *lateError) Error() string { return e.why }

// overtaken is a job whose subject is not, or not any more, what is to be judged.
type overtaken struct {
	// why is for people: "The pull request is closed."
	why string
	// again says that there is something else to judge, which a job of its own does, and
	// head is the head that the pull request has then.
	again bool
	head  string
}

func (o *overtaken) Error() string { return o.why }

// storeError says that the queue, or the disk, did not take something: no job is at fault.
type storeError struct{ error }

func (e *storeError) Unwrap() error { return e.error }

// asStoreError makes a storeError of an error of the queue that may end by itself.
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

// end is what becomes of a job.
type end int

const (
	endDone       end = iota // nothing is left to do
	endSuperseded            // a newer job does it
	endLost                  // another process does it, or will
	endReleased              // this process has to end, or lacks credentials that GitHub takes
	endOvertaken             // GitHub says that nobody wants it any more
	endRefused               // the repository is at fault, and its check run says so
	endFailed                // it cannot be done
	endRetried               // it may be done later
	endPostponed             // GitHub takes no more requests for a while or is not done itself, or nothing can be stored
)

// endOf says what becomes of a job whose work ended with err. What ended its context
// goes before what the work made of that.
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

// gone reports whether GitHub says that something is not there, or not for us.
func gone(err error) bool {
	var refused *github.Error
	return errors.Is(err, app.ErrGone) || errors.As(err, &refused) && refused.Kind == github.KindMissing
}
