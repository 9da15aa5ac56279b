package app

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-github/v62/github"

	"github.com/preadmit/preadmit/internal/githubtest"
)

func get(ctx context.Context, s *Access, repo *githubtest.Repository) error {
	_, _, err := s.Client().Repositories.Get(ctx, repo.Owner(), repo.Name())
	return err
}

// status returns the status of an error, 200 for nil.
func status(err error) int {
	var answer *github.ErrorResponse
	if errors.As(err, &answer) {
		return answer.Response.StatusCode
	}
	if err != nil {
		return 0
	}
	return 200
}

// TestAccessIsNarrowedAndShared checks that all requests for one repository share one token for it.
func TestAccessIsNarrowedAndShared(t *testing.T) {
	t.Parallel()
	w, ctx := newEnv(t, githubtest.Config{}), context.Background()
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			if err := get(ctx, w.ours.Repository(w.installed.ID(), w.repo.ID()), w.repo); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if got := w.statusesOf("POST", "/access_tokens"); len(got) != 1 {
		t.Errorf("asked for tokens: %v, want one", got)
	}
	access := w.ours.Repository(w.installed.ID(), w.repo.ID())
	if err := get(ctx, access, w.other); status(err) != 404 {
		t.Errorf("another repository: %v", err)
	}
	if missing := access.Missing(); len(missing) != 0 {
		t.Errorf("missing %v", missing)
	}
	body := string(w.Requests()[0].Body)
	want := `{"repository_ids":[` // only permissions that a scan needs
	if !strings.HasPrefix(body, want) || strings.Contains(body, "issues") || strings.Contains(body, "admin") {
		t.Errorf("asked for %s", body)
	}
}

// TestRefusedTokensAreReplacedOnce checks that a rejected token is replaced once, by either client.
func TestRefusedTokensAreReplacedOnce(t *testing.T) {
	t.Parallel()
	w, ctx := newEnv(t, githubtest.Config{}), context.Background()
	access := w.ours.Repository(w.installed.ID(), w.repo.ID())
	for range 2 {
		if err := get(ctx, access, w.repo); err != nil {
			t.Fatal(err)
		}
		w.installed.RevokeTokens()
	}
	if diff := cmp.Diff([]int{200, 401, 200}, w.statusesOf("GET", "/repos/octo/shop")); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
	api := github.NewClient(access.HTTP())
	api.BaseURL = w.ours.base
	run, _, err := api.Checks.CreateCheckRun(ctx, "octo", "shop", github.CreateCheckRunOptions{Name: "preadmit", HeadSHA: w.repo.Tip("main")})
	if err != nil || run.GetApp().GetSlug() != "preadmit" || len(w.CheckRuns()) != 1 {
		t.Errorf("with a body: %v %v", run, err)
	}
	w.Forget()
	w.Intercept(githubtest.Rule{Method: "GET", Path: "/repos/octo/shop", Status: 401, Times: 99, Message: "Bad credentials"})
	if err := get(ctx, access, w.repo); status(err) != 401 {
		t.Errorf("refused for good: %v", err)
	}
	if got := w.statusesOf("GET", "/repos/octo/shop"); len(got) != 2 {
		t.Errorf("asked %v, want twice", got)
	}
}

// TestRefusedTokensAreReplaced checks the same when GitHub's clock differs: then the App's assertion is
// renewed, and requests for the installation are not sent as the App.
func TestRefusedTokensAreReplaced(t *testing.T) {
	t.Parallel()
	w := newEnv(t, githubtest.Config{Now: func() time.Time { return time.Now().Add(2 * time.Minute) }})
	access := w.ours.Repository(w.installed.ID(), w.repo.ID())
	for range 2 {
		if err := get(context.Background(), access, w.repo); err != nil {
			t.Fatal(err)
		}
		w.installed.RevokeTokens()
	}
	if diff := cmp.Diff([]int{200, 401, 200}, w.statusesOf("GET", "/repos/octo/shop")); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
}

// TestMissingPermissions checks that missing permissions are left out of the token, and returned by
// Missing; without a required one there is no token.
func TestMissingPermissions(t *testing.T) {
	t.Parallel()
	w, ctx := newEnv(t, githubtest.Config{}), context.Background()
	w.installed.SetPermissions(map[string]string{"metadata": "read", "contents": "read", "checks": "write", "pull_requests": "read"})
	access := w.ours.Repository(w.installed.ID(), w.repo.ID())
	if err := get(ctx, access, w.repo); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"pull_requests: write", "security_events: write"}, access.Missing()); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
	if _, _, err := access.Client().PullRequests.List(ctx, "octo", "shop", nil); err != nil {
		t.Errorf("what it may read, it may not: %v", err)
	}
	if !strings.Contains(w.log.String(), "security_events: write") {
		t.Errorf("log %s", w.log)
	}
	if err := w.installed.AcceptPermissions(); err != nil {
		t.Fatal(err)
	}
	w.ours.Forget(w.installed.ID())
	access = w.ours.Repository(w.installed.ID(), w.repo.ID())
	if err := get(ctx, access, w.repo); err != nil || len(access.Missing()) != 0 {
		t.Errorf("accepted: %v %v", access.Missing(), err)
	}
	w.installed.SetPermissions(map[string]string{"metadata": "read", "checks": "write"})
	w.ours.Forget(w.installed.ID())
	err := get(ctx, w.ours.Repository(w.installed.ID(), w.repo.ID()), w.repo)
	if !errors.Is(err, ErrGone) || !strings.Contains(err.Error(), "contents: read") {
		t.Errorf("without contents: %v", err)
	}
}

// TestPermissionsAreRequestedAgain checks that they are requested again after an hour, since there may
// have been no event.
func TestPermissionsAreRequestedAgain(t *testing.T) {
	t.Parallel()
	w, ctx := newEnv(t, githubtest.Config{}), context.Background()
	w.installed.SetPermissions(map[string]string{"metadata": "read", "contents": "read"})
	access := w.ours.Repository(w.installed.ID(), w.repo.ID())
	if err := get(ctx, access, w.repo); err != nil || len(access.Missing()) != 3 {
		t.Fatalf("%v %v", access.Missing(), err)
	}
	if err := w.installed.AcceptPermissions(); err != nil {
		t.Fatal(err)
	}
	_ = w.clock.Sleep(ctx, fullAgain+1) // never fails
	if err := get(ctx, access, w.repo); err != nil || len(access.Missing()) != 0 {
		t.Errorf("an hour later: %v %v", access.Missing(), err)
	}
}

// TestFinalErrorsAreReturned checks that errors are returned at once, without retries: for a suspended
// installation, another repository, and after the installation was removed.
func TestFinalErrorsAreReturned(t *testing.T) {
	t.Parallel()
	w, ctx := newEnv(t, githubtest.Config{}), context.Background()
	if err := w.installed.Suspend(true); err != nil {
		t.Fatal(err)
	}
	if err := get(ctx, w.ours.Repository(w.installed.ID(), w.repo.ID()), w.repo); !errors.Is(err, ErrSuspended) {
		t.Errorf("suspended: %v", err)
	}
	if got := w.statusesOf("POST", "/access_tokens"); len(got) != 1 {
		t.Errorf("asked %v, want once", got)
	}
	if err := w.installed.Suspend(false); err != nil {
		t.Fatal(err)
	}
	if err := get(ctx, w.ours.Repository(w.installed.ID(), 4242), w.repo); !errors.Is(err, ErrGone) {
		t.Errorf("no such repository: %v", err)
	}
	if err := w.installed.Uninstall(); err != nil {
		t.Fatal(err)
	}
	if err := get(ctx, w.ours.Repository(w.installed.ID(), w.other.ID()), w.other); !errors.Is(err, ErrGone) {
		t.Errorf("uninstalled: %v", err)
	}
	if _, _, err := w.ours.InstallationOf(ctx, "octo", "shop"); !errors.Is(err, ErrGone) {
		t.Errorf("no installation: %v", err)
	}
}

func TestInstallations(t *testing.T) {
	t.Parallel()
	w, ctx := newEnv(t, githubtest.Config{PageSize: 1}), context.Background()
	if _, err := w.theirs.Install("else"); err != nil {
		t.Fatal(err)
	}
	all, err := w.ours.Installations(ctx)
	if err != nil || len(all) != 2 {
		t.Errorf("%v %v", all, err)
	}
	installation, repository, err := w.ours.InstallationOf(ctx, "octo", "other")
	if err != nil || installation != w.installed.ID() || repository != w.other.ID() {
		t.Errorf("%d %d %v", installation, repository, err)
	}
	repos, err := w.ours.Repositories(ctx, w.installed.ID())
	if err != nil || len(repos) != 2 {
		t.Errorf("%v %v", repos, err)
	}
	client, err := w.ours.Installation(ctx, w.installed.ID())
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = client.Checks.CreateCheckRun(ctx, "octo", "shop", github.CreateCheckRunOptions{Name: "x", HeadSHA: w.repo.Tip("main")})
	if status(err) != 403 {
		t.Errorf("it may write: %v", err)
	}
}

// TestTokensAreForTheAPIAlone checks that other hosts, also those that GitHub redirects to, receive no
// token.
func TestTokensAreForTheAPIAlone(t *testing.T) {
	t.Parallel()
	w, ctx := newEnv(t, githubtest.Config{}), context.Background()
	told := "never asked"
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { told = r.Header.Get("Authorization") }))
	defer elsewhere.Close()
	access := w.ours.Repository(w.installed.ID(), w.repo.ID())
	w.Intercept(githubtest.Rule{Path: "/repos/octo/shop", Status: 302, Header: http.Header{"Location": {elsewhere.URL}}})
	resp, err := access.HTTP().Get(w.URL + "repos/octo/shop")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if told != "" {
		t.Errorf("told %q", told)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, elsewhere.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.ours.asApp().RoundTrip(req); err == nil || strings.Contains(err.Error(), "eyJ") {
		t.Errorf("as the App: %v", err)
	}
}

// TestLimitsAreWaitedFor checks that clients wait for the end of a rate limit by the clock.
func TestLimitsAreWaitedFor(t *testing.T) {
	t.Parallel()
	w, ctx := newEnv(t, githubtest.Config{}), context.Background()
	access := w.ours.Repository(w.installed.ID(), w.repo.ID())
	w.Intercept(githubtest.Rule{Path: "/repos/octo/shop", Status: 429, Header: http.Header{"Retry-After": {"7"}}})
	w.Intercept(githubtest.Rule{Path: "/repos/octo/shop", Status: 502})
	began := w.clock.Now()
	if err := get(ctx, access, w.repo); err != nil {
		t.Error(err)
	}
	if slept := w.clock.Now().Sub(began).Seconds(); slept < 7.5 || slept > 10 {
		t.Errorf("slept %v s, want 7 and the wait after a failure", slept)
	}
}

// TestManyAccesses checks that the number of cached accesses is limited.
func TestManyAccesses(t *testing.T) {
	t.Parallel()
	w := newEnv(t, githubtest.Config{})
	kept := w.ours.Repository(1, 1)
	for i := range int64(3 * manyAccesses) {
		w.ours.Repository(1, i)
	}
	if n := len(w.ours.access); n > manyAccesses {
		t.Errorf("%d accesses are kept", n)
	}
	if kept.Client() == nil {
		t.Error("one that was dropped is of no use")
	}
}

// TestReplicas checks that when permissions were accepted, which only one replica is notified of, the
// others, whose tokens lack them, find out before they use these for a new task.
func TestReplicas(t *testing.T) {
	t.Parallel()
	w, ctx := newEnv(t, githubtest.Config{}), context.Background()
	other, err := New(w.config())
	if err != nil {
		t.Fatal(err)
	}
	w.installed.SetPermissions(map[string]string{"metadata": "read", "contents": "read", "checks": "read"})
	access := other.Repository(w.installed.ID(), w.repo.ID())
	grants := func(want bool) {
		t.Helper()
		if got, err := access.Grants(ctx, "checks: write"); err != nil || got != want {
			t.Fatalf("grants checks: %v %v, want %v", got, err, want)
		}
	}
	publish := func() int {
		api := github.NewClient(access.HTTP())
		api.BaseURL = other.base
		_, _, err := api.Checks.CreateCheckRun(ctx, "octo", "shop", github.CreateCheckRunOptions{Name: "preadmit", HeadSHA: w.repo.Tip("main")})
		return status(err)
	}
	grants(false)
	w.Forget()
	access.Recheck(ctx)
	grants(false)
	if got := w.statusesOf("POST", "/access_tokens"); len(got) != 0 || publish() != 403 {
		t.Errorf("nothing is granted, and new tokens are asked for: %v", got)
	}
	if err := w.installed.AcceptPermissions(); err != nil {
		t.Fatal(err)
	}
	w.ours.Forget(w.installed.ID())
	grants(false)
	access.Recheck(ctx)
	grants(true)
	if got := publish(); got != 201 && got != 200 {
		t.Errorf("the other replica publishes: %d", got)
	}
	w.Forget()
	access.Recheck(ctx)
	if got := w.Requests(); len(got) != 0 {
		t.Errorf("with nothing missing %d requests", len(got))
	}
}

// TestReplicasLook checks the same for clients of all repositories of an installation.
func TestReplicasLook(t *testing.T) {
	t.Parallel()
	w, ctx := newEnv(t, githubtest.Config{}), context.Background()
	w.installed.SetPermissions(map[string]string{"metadata": "read"})
	list := func() int {
		client, err := w.ours.Installation(ctx, w.installed.ID())
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = client.PullRequests.List(ctx, "octo", "shop", nil)
		return status(err)
	}
	if got := list(); got != 403 {
		t.Errorf("without the permission: %d", got)
	}
	if err := w.installed.AcceptPermissions(); err != nil {
		t.Fatal(err)
	}
	if got := list(); got != 200 {
		t.Errorf("with the permission: %d", got)
	}
}
