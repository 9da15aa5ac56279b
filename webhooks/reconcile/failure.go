package reconcile

import (
	"context"
	"errors"
	"fmt"

	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/app"
)

// errStore is wrapped by what the queue could not store or read.
var errStore = errors.New("the queue failed")

// stored marks an error of the queue; nil stays nil.
func stored(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", errStore, err)
}

// ends reports whether what failed for one thing would fail for all that follow: the pass
// was stopped, the queue stores nothing, or GitHub answers nothing. Any other failure is
// that thing's own, and must not keep what is behind it from being looked at.
func (p *pass) ends(ctx context.Context, err error) bool {
	return err != nil && (ctx.Err() != nil || errors.Is(err, errStore) || errors.Is(err, app.ErrCredentials) ||
		kindOf(err) == github.KindLimited)
}

// endsRepository is ends for the pull requests of one repository, which share their
// token. What is missing may be the head of one of them.
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

// kindOf is what went wrong with a request to GitHub, however it was wrapped; "" when
// nothing did.
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

// unwilling reports whether an error is the will of the repository's owner: an App
// removed or suspended, or without the permission.
func unwilling(err error) bool {
	var refused *github.Error
	return errors.Is(err, app.ErrGone) || errors.Is(err, app.ErrSuspended) || errors.As(err, &refused) && refused.Degrades()
}
