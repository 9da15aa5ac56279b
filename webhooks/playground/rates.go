package playground

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// askedAtOnce is how many requests a client may send at once, and askEvery the interval
	// for further ones. Typing sends three in a second.
	askedAtOnce = 40
	askEvery    = 200 * time.Millisecond
	// askedTogether is how many requests of a client may be judged or wait at a time.
	askedTogether = 2
	// maxClients is how many clients are tracked; beyond it, idle ones are forgotten.
	maxClients = 10_000
)

// rates limits the requests of each client.
type rates struct {
	now func() time.Time

	mu sync.Mutex
	of map[string]*rate.Limiter
	// judged counts the requests in progress, by client.
	judged map[string]int
}

func newRates(now func() time.Time) *rates {
	return &rates{now: now, of: map[string]*rate.Limiter{}, judged: map[string]int{}}
}

// allow reports whether a client may send a request now.
func (r *rates) allow(client string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if len(r.of) >= maxClients {
		for name, l := range r.of {
			if l.TokensAt(now) >= askedAtOnce {
				delete(r.of, name)
			}
		}
	}
	l := r.of[client]
	if l == nil {
		if len(r.of) >= maxClients {
			return false
		}
		l = rate.NewLimiter(rate.Every(askEvery), askedAtOnce)
		r.of[client] = l
	}
	return l.AllowN(now, 1)
}

// begin reports whether another request of a client may be judged; the caller calls done after it.
func (r *rates) begin(client string) (done func(), ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.judged[client] >= askedTogether {
		return nil, false
	}
	r.judged[client]++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.judged[client]--; r.judged[client] == 0 {
			delete(r.judged, client)
		}
	}, true
}
