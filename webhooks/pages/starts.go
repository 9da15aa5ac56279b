package pages

import (
	"time"

	"golang.org/x/time/rate"
)

const (
	// startsAtOnce is how many scans a token may start at once, and startEvery the time
	// after which it may start another. An hour's are fewer than GitHub answers an App,
	// which is asked about each.
	startsAtOnce = 60
	startEvery   = time.Second
)

// starts bounds the scans that tokens start: the numbers of pull requests that do not exist
// have no end.
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

// wait is how long a token has to wait for its next start, which is taken when it is 0.
func (s *starts) wait(t *Token, now time.Time) time.Duration {
	reserved := s.of[t.Name].ReserveN(now, 1)
	wait := reserved.DelayFrom(now)
	if wait > 0 {
		reserved.CancelAt(now)
	}
	return wait
}
