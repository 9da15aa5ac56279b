package github

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/internal/githubtest"
)

// TestStartThatIsCancelled: a check run that GitHub creates while the context ends is known, and
// no further one is requested.
func TestStartThatIsCancelled(t *testing.T) {
	s := hub(t, githubtest.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	client := &http.Client{Transport: transport(func(req *http.Request) (*http.Response, error) {
		if req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "/check-runs") {
			cancel()
		}
		return http.DefaultTransport.RoundTrip(req)
	})}
	p, _ := publisher(t, s, pullTarget(), Options{Client: client})
	if err := p.Start(ctx); err != nil || p.CheckURL() == "" {
		t.Errorf("start: %v, the check run is %q", err, p.CheckURL())
	}
	again, _ := publisher(t, s, pullTarget(), Options{})
	if err := again.create(ctx); err == nil {
		t.Error("a check run was made after the context ended")
	}
	if n := len(s.CheckRuns()); n != 1 {
		t.Errorf("%d check runs, want 1", n)
	}
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(req *http.Request) (*http.Response, error) { return t(req) }
