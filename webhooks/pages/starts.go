package pages

import (
	"time"

	"golang.org/x/time/rate"
)

const (
	// startsAtOnce is how many scans a token may start at once, and startEvery the time
	// after which it may start another. The number per hour is below the rate limit of a GitHub
	// App, which sends requests for each.
	startsAtOnce = 60
	startEvery   = time.Second
)

// starts limits the scans that tokens start: there are endless numbers of pull requests that do
// not exist.
type starts struct {
	of map[string]*rate.Limiter // by the token's name
}

func newStarts(tokens []Token) *starts {
	s := &starts{of: map[string]*rate.Limiter{}}
	for _, t := range tokens {
		s.of[t.Name] = rate.NewLimiter(rate.Every(startEvery), startsAtOnce)
	}
	return s
}

// wait returns how long a token has to wait for its next start. If it is 0, the start is counted.
func (s *starts) wait(t *Token, now time.Time) time.Duration {
	reserved := s.of[t.Name].ReserveN(now, 1)
	wait := reserved.DelayFrom(now)
	if wait > 0 {
		reserved.CancelAt(now)
	}
	return wait
}
