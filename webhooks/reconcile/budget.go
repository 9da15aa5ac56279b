package reconcile

import (
	"net/http"
	"strconv"
)

// atMost is the part of an installation's hourly requests that may be used up, by
// whomever, while reconciliation asks for more: scans need them more.
const atMost = 0.5

// budget is what a pass has learnt of the requests of installations, and has made of them.
type budget struct {
	used  map[int64]float64
	asked map[question]int
}

// question is one request to an installation.
type question struct {
	installation int64
	what         string
}

func newBudget() *budget {
	return &budget{used: map[int64]float64{}, asked: map[question]int{}}
}

// spent reports whether an installation's other requests of this hour are for scans.
func (b *budget) spent(installation int64) bool { return b.used[installation] > atMost }

// grant reports whether an installation may be asked for something now. One question of a
// kind is granted in each pass, or an installation that is always busy would never be
// looked at.
func (b *budget) grant(installation int64, what string) bool {
	q := question{installation, what}
	if b.spent(installation) && b.asked[q] > 0 {
		return false
	}
	b.asked[q]++
	return true
}

// note takes in the limit that an answer states. A GitHub Enterprise Server without limits
// says nothing. What remains is not read: the App's client takes it out of answers.
func (b *budget) note(installation int64, h http.Header) {
	limit, err := strconv.ParseFloat(h.Get("X-RateLimit-Limit"), 64)
	used, err2 := strconv.ParseFloat(h.Get("X-RateLimit-Used"), 64)
	if err == nil && err2 == nil && limit > 0 {
		b.used[installation] = used / limit
	}
}

// watch returns a client whose answers are noted. It is for one goroutine.
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

// roundTrip is a transport that is a function.
type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip calls it.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
