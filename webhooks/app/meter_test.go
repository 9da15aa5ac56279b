package app

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/internal/githubtest"
)

// TestClasses checks that there are few classes of routes, independent of repository names.
func TestClasses(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"app": "app", "app/installations/7/access_tokens": "access-tokens", "app/installations/7": "installations",
		"app/hook/deliveries/7/attempts": "deliveries", "app-manifests/xyz/conversions": "app-manifests", "user": "user", "graphql": "graphql",
		"repos/files/pulls": "repository", "repos/o/r/pulls/7": "pulls", "repos/o/r/pulls/7/files": "files", "repos/o/r/check-runs/1": "check-runs",
		"repos/o/r/commits/abc/check-runs": "check-runs", "repos/o/r/issues/7/comments": "comments", "repos/o/r/issues/comments/7/reactions": "reactions",
		"repos/o/r/compare/a...b": "compare", "repos/o/r/code-scanning/sarifs": "sarifs", "repositories/12/pulls/3": "pulls", "repos/o/r/secret-name": "other",
		"": "other", "x/y": "other",
	} {
		if got := classOf(path); got != want || !slices.Contains(Classes(), got) {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}

// TestRequestsAreCounted checks the counts by class and status, and the remainder of the rate limit.
func TestRequestsAreCounted(t *testing.T) {
	t.Parallel()
	w, ctx := newEnv(t, githubtest.Config{}), context.Background()
	access := w.ours.Repository(w.installed.ID(), w.repo.ID())
	w.installed.SetRemaining(42)
	for _, repo := range []*githubtest.Repository{w.repo, w.repo, w.other} {
		_ = get(ctx, access, repo) // the last one is rejected
	}
	w.Intercept(githubtest.Rule{Path: "/other", Status: 429, Header: http.Header{"Retry-After": {"1"}}})
	_ = get(ctx, access, w.other) // rejected after the wait
	got := w.counted()
	want := map[string]float64{
		"preadmit_github_calls_total access-tokens 201": 1, "preadmit_github_calls_total repository 200": 2,
		"preadmit_github_calls_total repository 404": 2, "preadmit_github_calls_total repository 429": 1,
		"preadmit_github_rate_limited_total repository": 1, "preadmit_github_tokens_total granted": 1, fmt.Sprintf("preadmit_github_rate_limit_remaining %d", w.installed.ID()): 38,
	}
	for name := range got {
		if _, wanted := want[name]; !wanted && got[name] == 0 {
			delete(got, name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// counted returns the values of counters and gauges, by name and labels.
func (w *env) counted() map[string]float64 {
	w.t.Helper()
	got := map[string]float64{}
	families, err := w.registry.Gather()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.Metric {
			name := family.GetName()
			for _, label := range m.Label {
				name += " " + label.GetValue()
			}
			if m.Counter != nil {
				got[name] = m.Counter.GetValue()
			} else if m.Gauge != nil {
				got[name] = m.Gauge.GetValue()
			}
		}
	}
	return got
}

// TestTokensAreCounted checks the counts by outcome; cached tokens are not requested.
func TestTokensAreCounted(t *testing.T) {
	t.Parallel()
	w, ctx := newEnv(t, githubtest.Config{}), context.Background()
	for range 3 {
		_ = get(ctx, w.ours.Repository(w.installed.ID(), w.repo.ID()), w.repo) // with one token
	}
	w.installed.RevokeTokens()
	_ = get(ctx, w.ours.Repository(w.installed.ID(), w.repo.ID()), w.repo)
	w.installed.SetPermissions(map[string]string{"metadata": "read", "contents": "read"})
	_ = get(ctx, w.ours.Repository(w.installed.ID(), w.other.ID()), w.other) // rejected, then narrowed
	if err := w.installed.Suspend(true); err != nil {
		t.Fatal(err)
	}
	w.ours.Forget(w.installed.ID())
	_, _ = w.ours.Repository(w.installed.ID(), w.repo.ID()).Token(ctx)
	w.Intercept(githubtest.Rule{Method: "POST", Path: "/access_tokens", Status: 502})
	_, _ = w.ours.Repository(w.installed.ID(), w.repo.ID()).Token(ctx)
	got := w.counted()
	for outcome, want := range map[string]float64{"granted": 2, "narrowed": 1, "refused": 2, "failed": 1} {
		if n := got["preadmit_github_tokens_total "+outcome]; n != want {
			t.Errorf("%s tokens: %g, want %g", outcome, n, want)
		}
	}
}
