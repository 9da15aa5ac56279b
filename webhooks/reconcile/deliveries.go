package reconcile

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/preadmit/preadmit/webhooks/app"
)

const (
	// kept is how long GitHub offers to send a delivery again: three days, as "Redelivering
	// webhooks" of its documentation says.
	kept = 72 * time.Hour
	// recent is how far most passes look back; all that is kept is looked at every hour.
	recent = 2 * time.Hour
	// firstWait is how long a delivery rests after its first failure. It doubles with each
	// further one, up to lastWait.
	firstWait = time.Minute
	lastWait  = 6 * time.Hour
	// mostDeliveries is how many are requested again in one pass. GitHub bounds what may be asked
	// for in a minute.
	mostDeliveries = 100
)

// deliveries asks for failed deliveries again, the oldest first: GitHub forgets them first.
func (p *pass) deliveries(ctx context.Context) error {
	now := p.Now()
	since := now.Add(-recent)
	if !p.left.IsZero() && p.left.Before(since) {
		since = p.left
	}
	if everything := now.Sub(p.listed) >= time.Hour; everything {
		since, p.listed = now.Add(-kept), now
	}
	failed, listing := p.App.FailedDeliveries(ctx, since) // what was listed before an error counts
	if listing != nil {
		p.listed = time.Time{}
	}
	asked := 0
	p.left = time.Time{}
	for _, d := range slices.Backward(failed) {
		if !due(d, now) {
			continue
		}
		if asked == mostDeliveries {
			p.limited("more failed deliveries than are requested at a time", "most", mostDeliveries)
			p.left = d.At // the rest is not only what is recent
			break
		}
		again, err := p.redeliver(ctx, d)
		if p.ends(ctx, err) {
			p.Metrics.Recovered(asked)
			return errors.Join(listing, err)
		}
		p.failed("ask for a delivery again", err, "delivery", d.GUID)
		if again {
			asked++
		}
	}
	p.Metrics.Recovered(asked)
	return listing
}

// due reports whether a delivery's time to be tried again has come.
func due(d app.Delivery, now time.Time) bool {
	wait := firstWait
	for range d.Attempts - 1 {
		wait = min(2*wait, lastWait)
	}
	return now.Sub(d.At) >= wait
}

// redeliver asks for a delivery, unless it arrived all the same.
func (p *pass) redeliver(ctx context.Context, d app.Delivery) (bool, error) {
	seen, err := p.Queue.Seen(ctx, d.GUID)
	if err != nil || seen {
		return false, stored(err)
	}
	err = p.App.Redeliver(ctx, d.ID)
	if errors.Is(err, app.ErrGone) {
		return false, nil // too old, or its installation went
	}
	if err == nil {
		p.Log.Info("asked for a delivery again", "delivery", d.GUID, "attempts", d.Attempts, "status", d.Status)
	}
	return err == nil, err
}
