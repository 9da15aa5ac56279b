package reconcile

import (
	"net/http"
	"strconv"
)

// atMost is the fraction of an installation's hourly requests after which, whoever used them,
// reconciliation sends no more: the rest is reserved for scans.
const atMost = 0.5

// budget is what a pass knows of the rate limits of installations, and the requests it has made.
type budget struct {
	used     map[int64]float64
	requests map[requestKind]int
}

// requestKind is a kind of request to an installation.
type requestKind struct {
	installation int64
	what         string
}

func newBudget() *budget {
	return &budget{used: map[int64]float64{}, requests: map[requestKind]int{}}
}

// spent reports whether an installation's remaining requests of this hour are reserved for scans.
func (b *budget) spent(installation int64) bool { return b.used[installation] > atMost }

// grant reports whether a request may be sent for an installation now. One of each kind is granted
// in each pass; otherwise an installation that is always busy would never be checked.
func (b *budget) grant(installation int64, what string) bool {
	q := requestKind{installation, what}
	if b.spent(installation) && b.requests[q] > 0 {
		return false
	}
	b.requests[q]++
	return true
}

// note records the usage of the rate limit that a response states. A GitHub Enterprise Server
// without limits sends none. X-RateLimit-Remaining is not read: the App's client removes it.
func (b *budget) note(installation int64, h http.Header) {
	limit, err := strconv.ParseFloat(h.Get("X-RateLimit-Limit"), 64)
	used, err2 := strconv.ParseFloat(h.Get("X-RateLimit-Used"), 64)
	if err == nil && err2 == nil && limit > 0 {
		b.used[installation] = used / limit
	}
}

// watch returns a client that records the usage in responses. It is for one goroutine.
func (b *budget) watch(installation int64, c *http.Client) *http.Client {
	watched := *c
	watched.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		resp, err := c.Transport.RoundTrip(r)
		if err == nil {
			b.note(installation, resp.Header)
		}
		return resp, err
	})
	return &watched
}

// roundTrip is a function that implements http.RoundTripper.
type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
