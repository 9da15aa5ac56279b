package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/go-github/v62/github"
)

// maxDeliveryPages bounds what is read of the deliveries: 100,000 of them.
const maxDeliveryPages = 1000

// Delivery is one attempt of GitHub to deliver an event.
type Delivery struct {
	// ID is of the attempt, and GUID of what is delivered, which it shares with all
	// attempts: the X-GitHub-Delivery header.
	ID   int64
	GUID string
	// Event and Action say what happened, like "pull_request" and "opened".
	Event, Action string
	// Installation and Repository are GitHub's IDs, 0 where there is none.
	Installation, Repository int64
	// At is the time of the attempt, Status the answer's, 0 without one, and Redelivery
	// reports whether GitHub was asked for it.
	At         time.Time
	Status     int
	Redelivery bool
	// Attempts are how many since the time that was asked for failed, this one included.
	Attempts int
}

// FailedDeliveries are the deliveries since a time that no attempt has brought yet, each
// with its last attempt, the newest first. GitHub keeps three days of them, seven on
// Enterprise Server.
func (a *App) FailedDeliveries(ctx context.Context, since time.Time) ([]Delivery, error) {
	var failed []*Delivery
	known := map[string]*Delivery{} // by GUID; nil: brought by a later attempt
	err := a.deliveries(ctx, since, func(d Delivery) {
		last, seen := known[d.GUID]
		switch {
		case seen && last != nil:
			last.Attempts++
		case seen:
		case d.Status >= 200 && d.Status < 300:
			known[d.GUID] = nil
		default:
			d.Attempts = 1
			known[d.GUID] = &d
			failed = append(failed, &d)
		}
	})
	out := make([]Delivery, len(failed))
	for i, d := range failed {
		out[i] = *d
	}
	return out, err
}

// deliveries visits all attempts since a time, the newest first.
func (a *App) deliveries(ctx context.Context, since time.Time, visit func(Delivery)) error {
	opts := &github.ListCursorOptions{PerPage: 100}
	seen := map[string]bool{"": true}
	for range maxDeliveryPages {
		list, resp, err := a.self.Apps.ListHookDeliveries(ctx, opts)
		if err != nil {
			return a.explain("list the App's deliveries", err)
		}
		for _, d := range list {
			if d.GetDeliveredAt().Before(since) {
				return nil
			}
			visit(Delivery{
				ID: d.GetID(), GUID: d.GetGUID(), Event: d.GetEvent(), Action: d.GetAction(),
				Installation: d.GetInstallationID(), Repository: d.GetRepositoryID(),
				At: d.GetDeliveredAt().Time, Status: d.GetStatusCode(), Redelivery: d.GetRedelivery(),
			})
		}
		if seen[resp.Cursor] {
			return nil
		}
		opts.Cursor, seen[resp.Cursor] = resp.Cursor, true
	}
	return errors.New("list the App's deliveries: there is no end of them")
}

// Redeliver asks GitHub to try a delivery once more, by the ID of an attempt. It comes
// with the same GUID. ErrGone says that GitHub has it no more.
func (a *App) Redeliver(ctx context.Context, id int64) error {
	_, _, err := a.self.Apps.RedeliverHookDelivery(ctx, id)
	var accepted *github.AcceptedError
	if err == nil || errors.As(err, &accepted) {
		return nil
	}
	return a.explain(fmt.Sprintf("ask for delivery %d again", id), err)
}
