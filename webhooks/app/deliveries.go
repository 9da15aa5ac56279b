package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/go-github/v62/github"
)

// maxDeliveryPages limits the pages of deliveries that are read, to 100,000 deliveries.
const maxDeliveryPages = 1000

// Delivery is one attempt by GitHub to deliver an event.
type Delivery struct {
	// ID identifies the attempt, and GUID the event, which all its attempts share: the
	// X-GitHub-Delivery header.
	ID   int64
	GUID string
	// Event and Action are like "pull_request" and "opened".
	Event, Action string
	// Installation and Repository are GitHub's IDs, 0 if there is none.
	Installation, Repository int64
	// At is the time of the attempt, Status that of the response, 0 without one, and
	// Redelivery is set if the attempt was requested.
	At         time.Time
	Status     int
	Redelivery bool
	// Attempts is the number of failed attempts in the requested time, this one included.
	Attempts int
}

// FailedDeliveries returns the deliveries since a time of which no attempt has succeeded, each
// with its last attempt, the newest first. GitHub keeps three days of them, seven on
// Enterprise Server.
func (a *App) FailedDeliveries(ctx context.Context, since time.Time) ([]Delivery, error) {
	var failed []*Delivery
	known := map[string]*Delivery{} // by GUID; nil: a later attempt succeeded
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

// deliveries calls visit for all attempts since a time, the newest first.
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

// Redeliver requests another attempt of a delivery, by the ID of an earlier attempt. It has the
// same GUID. ErrGone means that GitHub no longer has it.
func (a *App) Redeliver(ctx context.Context, id int64) error {
	_, _, err := a.self.Apps.RedeliverHookDelivery(ctx, id)
	var accepted *github.AcceptedError
	if err == nil || errors.As(err, &accepted) {
		return nil
	}
	return a.explain(fmt.Sprintf("ask for delivery %d again", id), err)
}
