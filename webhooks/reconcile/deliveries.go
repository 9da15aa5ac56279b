package reconcile

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/preadmit/preadmit/webhooks/app"
)

const (
	// kept is how long GitHub can redeliver: three days, according to "Redelivering webhooks"
	// of its documentation.
	kept = 72 * time.Hour
	// recent is how far most passes look back; once an hour a pass examines all of kept.
	recent = 2 * time.Hour
	// firstWait is how long a delivery rests after its first failure. The time doubles with each
	// further failure, up to lastWait.
	firstWait = time.Minute
	lastWait  = 6 * time.Hour
	// mostDeliveries is how many are requested again in one pass. GitHub limits the requests
	// per minute.
	mostDeliveries = 100
)

// deliveries requests failed deliveries again, the oldest first, since GitHub forgets these first.
func (p *pass) deliveries(ctx context.Context) error {
	now := p.Now()
	since := now.Add(-recent)
	if !p.left.IsZero() && p.left.Before(since) {
		since = p.left
	}
	if everything := now.Sub(p.listed) >= time.Hour; everything {
		since, p.listed = now.Add(-kept), now
	}
	failed, listing := p.App.FailedDeliveries(ctx, since) // on an error, those listed before it are used
	if listing != nil {
		p.listed = time.Time{}
	}
	requested := 0
	p.left = time.Time{}
	for _, d := range slices.Backward(failed) {
		if !due(d, now) {
			continue
		}
		if requested == mostDeliveries {
			p.limited("more failed deliveries than are requested at a time", "most", mostDeliveries)
			p.left = d.At // the next pass has to look back further than recent
			break
		}
		again, err := p.redeliver(ctx, d)
		if p.ends(ctx, err) {
			p.left = d.At
			p.Metrics.Recovered(requested)
			return errors.Join(listing, err)
		}
		p.failed("request a delivery again", err, "delivery", d.GUID)
		if again {
			requested++
		}
	}
	p.Metrics.Recovered(requested)
	return listing
}

// due reports whether it is time to request a delivery again.
func due(d app.Delivery, now time.Time) bool {
	wait := firstWait
	for range d.Attempts - 1 {
		wait = min(2*wait, lastWait)
	}
	return now.Sub(d.At) >= wait
}

// redeliver requests a delivery again, unless it arrived despite the failure.
func (p *pass) redeliver(ctx context.Context, d app.Delivery) (bool, error) {
	seen, err := p.Queue.Seen(ctx, d.GUID)
	if err != nil || seen {
		return false, stored(err)
	}
	err = p.App.Redeliver(ctx, d.ID)
	if errors.Is(err, app.ErrGone) {
		return false, nil // too old, or its installation is gone
	}
	if err == nil {
		p.Log.Info("requested a delivery again", "delivery", d.GUID, "attempts", d.Attempts, "status", d.Status)
	}
	return err == nil, err
}
