package retry

import (
	"context"
	"errors"
	"fmt"
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

// final is an error whose method Permanent returns true.
type final struct{ error }

func (final) Permanent() bool { return true }

type function func(*http.Request) (*http.Response, error)

func (f function) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

type noWait struct{ SystemClock }

func (noWait) Sleep(context.Context, time.Duration) error { return nil }

// TestPermanentErrorsAreNotRetried: they are not retried, and are returned unchanged.
func TestPermanentErrorsAreNotRetried(t *testing.T) {
	cause := errors.New("suspended")
	for err, want := range map[error]int{final{cause}: 1, cause: 5} {
		asked := 0
		next := function(func(*http.Request) (*http.Response, error) {
			asked++
			return nil, fmt.Errorf("get a token: %w", err)
		})
		client := &http.Client{Transport: New(next, Options{Clock: noWait{}})}
		_, got := client.Get("http://127.0.0.1/x")
		if asked != want || !errors.Is(got, err) || Permanent(got) != (want == 1) {
			t.Errorf("%v: asked %d times, %v", err, asked, got)
		}
	}
}
