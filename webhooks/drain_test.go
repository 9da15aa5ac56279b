package webhooks

import (
	"net/http"
	"testing"
	"time"
)

// TestDeliveriesWhileEnding checks that a service without jobs in progress accepts deliveries for a while
// after it was told to end, over existing and new connections.
func TestDeliveriesWhileEnding(t *testing.T) {
	t.Parallel()
	r := run(t, nil)
	r.answers("/readyz", http.StatusOK)
	began := time.Now()
	r.stop()
	for taken := 0; ; taken++ {
		select {
		case <-r.ended:
			if took := time.Since(began); r.err != nil || took < settling || taken == 0 {
				t.Errorf("ended after %v with %d deliveries: %v", took, taken, r.err)
			}
			return
		default:
		}
		if time.Since(began) > settling/2 {
			time.Sleep(10 * time.Millisecond)
		} else if status := r.pings(); status/100 != 2 {
			t.Errorf("a delivery after %v: %d", time.Since(began), status)
		}
	}
}

// TestConnectionsWhileEnding checks that an ending service keeps no connection open.
func TestConnectionsWhileEnding(t *testing.T) {
	t.Parallel()
	r := run(t, nil)
	r.answers("/readyz", http.StatusOK)
	for _, ending := range []bool{false, true} {
		if ending {
			r.stop()
			r.logs("draining")
		}
		resp, err := http.Get(r.URL() + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.Close != ending {
			t.Errorf("ending %v: the connection is closed: %v", ending, resp.Close)
		}
	}
}
