package queue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"
)

// deliveryAge is how long deliveries are remembered. GitHub can redeliver for three days.
const deliveryAge = 4 * 24 * time.Hour

// delivery is the stored value of a delivery.
type delivery struct {
	Event string `json:"event"`
}

// deliveryKey returns the key of a delivery, for any GUID.
func deliveryKey(guid string) string {
	if checkID(guid) == nil && guid != markKey {
		return "d." + guid
	}
	sum := sha256.Sum256([]byte(guid))
	return "h." + hex.EncodeToString(sum[:])
}

// Seen reports whether a delivery was remembered in the last four days.
func (q *Queue) Seen(ctx context.Context, guid string) (bool, error) {
	ctx, cancel := withPatience(ctx, writeWait)
	defer cancel()
	e, err := q.deliveries.getPatiently(ctx, deliveryKey(guid))
	if err != nil {
		return false, fmt.Errorf("looking up delivery: %w", err)
	}
	return e.value != nil, nil
}

// Remember records that a delivery was processed: call it after Enqueue.
func (q *Queue) Remember(ctx context.Context, guid, event string) error {
	_, _, err := q.deliveries.update(ctx, entry[delivery]{key: deliveryKey(guid)}, "", func(now *delivery) (*delivery, error) {
		if now != nil {
			return nil, errUnchanged
		}
		return &delivery{event}, nil
	})
	if err != nil && !errors.Is(err, errUnchanged) {
		return fmt.Errorf("remembering delivery: %w", err)
	}
	return nil
}
