package retry

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// LimitedHeader is set on a response of a rate limit, with the time at which the limit
	// ends, or "unknown". GitHub's own headers are removed from all responses: because of
	// them go-github would refuse later requests itself, by the system clock.
	LimitedHeader = "Preadmit-Limited-Until"
	// firstBackoff and maxBackoff bound the waits after a failure.
	firstBackoff = time.Second
	maxBackoff   = 30 * time.Second
	// blindWait is the first wait for a secondary rate limit without a known end. GitHub's
	// best practices require at least a minute, and a longer wait each time.
	blindWait = time.Minute
	// maxDoublings keeps a wait that doubles from overflowing.
	maxDoublings = 16
)

// Transport is an http.RoundTripper that waits for rate limits, retries after failures, and
// bounds each request in time and size.
type Transport struct {
	opts Options
	next http.RoundTripper
}

// Unanswered is the error of a request that got no response.
type Unanswered struct {
	// Method and Path are those of the request. The path has no query.
	Method, Path string
	// Err is the cause.
	Err error
}

func (r *Unanswered) Error() string { return fmt.Sprintf("%s %s: %v", r.Method, r.Path, r.Err) }

// Unwrap returns the cause.
func (r *Unanswered) Unwrap() error { return r.Err }

// RoundTrip sends a request until it succeeds, fails for good, or may not be retried.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	for try := 1; ; try++ {
		resp, err := t.send(req)
		wait, again := t.wait(ctx, resp, err, try)
		if !again || try >= t.opts.Tries || !t.Fits(ctx, wait) {
			return t.finish(req, resp, err)
		}
		if err := t.opts.Clock.Sleep(ctx, wait); err != nil {
			return nil, &Unanswered{req.Method, req.URL.Path, err}
		}
	}
}

// finish sets LimitedHeader on the response of a rate limit, and wraps err in an *Unanswered.
func (t *Transport) finish(req *http.Request, resp *http.Response, err error) (*http.Response, error) {
	if err != nil {
		return nil, &Unanswered{req.Method, req.URL.Path, err}
	}
	if limited(resp) {
		until := "unknown"
		if wait, ok := t.waitOf(resp); ok {
			until = t.opts.Clock.Now().Add(wait).Format(time.RFC3339)
		}
		resp.Header.Set(LimitedHeader, until)
	}
	for _, name := range []string{"Retry-After", "X-RateLimit-Remaining", "X-RateLimit-Reset"} {
		resp.Header.Del(name)
	}
	return resp, nil
}

// send sends a request once and reads the whole response.
func (t *Transport) send(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(req.Context(), t.opts.Timeout)
	defer cancel()
	copied := req.Clone(ctx)
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, fmt.Errorf("send the body again: %w", err)
		}
		copied.Body = body
	}
	resp, err := t.next.RoundTrip(copied)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // the body is read; an error does not matter
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	resp.Body, resp.Request = &kept{Reader: bytes.NewReader(body), text: body}, req
	return resp, nil
}

// kept is a response body that was read into memory.
type kept struct {
	*bytes.Reader
	text []byte
}

func (*kept) Close() error { return nil }

// wait returns how long to wait before the next try, and reports whether there is one.
func (t *Transport) wait(ctx context.Context, resp *http.Response, err error, try int) (time.Duration, bool) {
	if ctx.Err() != nil || Permanent(err) {
		return 0, false
	}
	if err == nil && limited(resp) {
		if wait, ok := t.waitOf(resp); ok {
			return wait, true
		}
		return blindWait<<min(try-1, maxDoublings) + jitter(firstBackoff), true
	}
	failed := err != nil || resp.StatusCode >= 500
	if !failed || ctx.Value(onceKey{}) != nil {
		return 0, false
	}
	if err == nil {
		if wait, ok := retryAfter(resp); ok {
			return wait, true
		}
	}
	return Backoff(try), true
}

// Fits reports whether a wait is at most MaxWait and ends before the context's deadline.
func (t *Transport) Fits(ctx context.Context, wait time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return wait <= t.opts.MaxWait && (!ok || t.opts.Clock.Now().Add(wait).Before(deadline))
}

// limited reports whether a rate limit refused a request.
func limited(resp *http.Response) bool {
	body, ok := resp.Body.(*kept)
	return ok && Limited(resp, body.text)
}

// Limited reports whether a response with this body comes from a rate limit. For status 403
// it relies on Retry-After and GitHub's message: X-RateLimit-Remaining may be 0 in other
// 403 responses as well.
func Limited(resp *http.Response, body []byte) bool {
	switch resp.StatusCode {
	case http.StatusTooManyRequests:
		return true
	case http.StatusForbidden:
		return resp.Header.Get("Retry-After") != "" || strings.Contains(strings.ToLower(string(body)), "rate limit")
	}
	return false
}

// waitOf returns the wait that the response of a rate limit requires, if known.
func (t *Transport) waitOf(resp *http.Response) (time.Duration, bool) {
	if wait, ok := retryAfter(resp); ok {
		return wait, true
	}
	reset, err := strconv.ParseInt(resp.Header.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil || resp.Header.Get("X-RateLimit-Remaining") != "0" {
		return 0, false
	}
	// One second more, as GitHub's clock and this one may differ slightly.
	return max(0, time.Unix(reset, 0).Sub(t.opts.Clock.Now())) + time.Second, true
}

func retryAfter(resp *http.Response) (time.Duration, bool) {
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil || seconds < 0 || seconds > 24*60*60 {
		return 0, false
	}
	return time.Duration(seconds) * time.Second, true
}
