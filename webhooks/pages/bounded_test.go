package pages_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/preadmit/preadmit/webhooks/pages"
)

// endless is a body without an end that counts the bytes read.
type endless struct{ read *atomic.Int64 }

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	if e.read.Add(int64(len(p))) == int64(len(p)) {
		copy(p, `{"login":"`)
	}
	return len(p), nil
}

func (endless) Close() error { return nil }

// through is a transport that responds to some requests itself.
type through func(*http.Request) *http.Response

func (f through) RoundTrip(req *http.Request) (*http.Response, error) {
	if resp := f(req); resp != nil {
		return resp, nil
	}
	return http.DefaultTransport.RoundTrip(req)
}

// TestEndlessAnswer checks that an endless response of GitHub about a viewer is read up to a limit, and
// that nobody is logged in by it.
func TestEndlessAnswer(t *testing.T) {
	t.Parallel()
	var read atomic.Int64
	w := newEnv(t, func(c *pages.Config) {
		c.Transport = through(func(req *http.Request) *http.Response {
			if !strings.HasSuffix(req.URL.Path, "/user") {
				return nil
			}
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: endless{&read}, Request: req, ContentLength: -1}
		})
	})
	_, got := w.as("alice", "/")
	w.wants(got.body, "You are not logged in", "GitHub could not be reached to identify you")
	if n := read.Load(); n < 1<<20 || n > 64<<20 {
		t.Errorf("%d MiB were read", n>>20)
	}
}
