package retry

import (
	"net/http"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	for value, want := range map[string]time.Duration{"0": 0, "90": 90 * time.Second, "": -1, "-3": -1, "soon": -1, "99999999999999": -1} {
		got, ok := retryAfter(&http.Response{Header: http.Header{"Retry-After": {value}}})
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %v %v, want %v", value, got, ok, want)
		}
	}
}

func TestBackoffIsBounded(t *testing.T) {
	for _, failures := range []int{1, 2, 5, 20, 1000} {
		limit := min(maxBackoff, firstBackoff<<min(failures-1, 10))
		for range 50 {
			if got := Backoff(failures); got < limit/2 || got > limit {
				t.Fatalf("after %d failures %v, want between %v and %v", failures, got, limit/2, limit)
			}
		}
	}
}
