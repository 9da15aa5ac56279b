package reconcile

import (
	"context"
	"errors"
	"fmt"

	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/app"
)

// errStore is wrapped by errors of the queue.
var errStore = errors.New("the queue failed")

// stored wraps an error of the queue in errStore; nil stays nil.
func stored(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", errStore, err)
}

// ends reports whether err ends the pass, since all following requests would fail as well: the
// pass was stopped, the queue fails, or GitHub rejects all requests. Any other failure concerns
// one item, and the pass continues with the next.
func (p *pass) ends(ctx context.Context, err error) bool {
	return err != nil && (ctx.Err() != nil || errors.Is(err, errStore) || errors.Is(err, app.ErrCredentials) ||
		kindOf(err) == github.KindLimited)
}

// endsRepository is ends for the pull requests of one repository, which share their
// token. A missing object does not count, since it may be the head of only one of them.
func (p *pass) endsRepository(ctx context.Context, err error) bool {
	switch {
	case p.ends(ctx, err), errors.Is(err, app.ErrGone), errors.Is(err, app.ErrSuspended):
		return true
	}
	switch kindOf(err) {
	case github.KindUnauthorized, github.KindForbidden, github.KindLocked:
		return true
	}
	return false
}

// kindOf returns the kind of an error of a request to GitHub, however it is wrapped; "" for
// nil.
func kindOf(err error) github.Kind {
	if err == nil {
		return ""
	}
	var refused *github.Error
	if !errors.As(err, &refused) {
		errors.As(github.Explain("ask GitHub", "", err), &refused)
	}
	return refused.Kind
}

// unwilling reports whether the repository's owner caused the error: the App was removed or
// suspended, or lacks the permission.
func unwilling(err error) bool {
	var refused *github.Error
	return errors.Is(err, app.ErrGone) || errors.Is(err, app.ErrSuspended) || errors.As(err, &refused) && refused.Degrades()
}
