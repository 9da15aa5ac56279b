package github

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/internal/githubtest"
)

// TestWaits checks the wait before a retry for different first responses of GitHub.
func TestWaits(t *testing.T) {
	reset := func(in time.Duration) http.Header {
		return http.Header{
			"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {strconv.FormatInt(time.Now().Add(in).Unix(), 10)},
		}
	}
	const primary, secondary = "API rate limit exceeded for installation.", "You have exceeded a secondary rate limit."
	for name, test := range map[string]struct {
		rule     githubtest.Rule
		min, max time.Duration
	}{
		"retry-after":      {githubtest.Rule{Status: 403, Message: secondary, Header: http.Header{"Retry-After": {"7"}}}, 7 * time.Second, 7 * time.Second},
		"429":              {githubtest.Rule{Status: 429, Header: http.Header{"Retry-After": {"9"}}, Times: 2}, 18 * time.Second, 18 * time.Second},
		"secondary, blind": {githubtest.Rule{Status: 403, Message: secondary}, time.Minute, 62 * time.Second},
		"secondary, twice": {githubtest.Rule{Status: 403, Message: secondary, Times: 2}, 3 * time.Minute, 184 * time.Second},
		"secondary, not spent": {githubtest.Rule{Status: 403, Message: secondary, Header: http.Header{
			"X-Ratelimit-Remaining": {"4000"}, "X-Ratelimit-Reset": reset(3 * time.Minute)["X-Ratelimit-Reset"],
		}}, time.Minute, 62 * time.Second},
		"primary":        {githubtest.Rule{Status: 403, Message: primary, Header: reset(90 * time.Second)}, 88 * time.Second, 92 * time.Second},
		"5xx":            {githubtest.Rule{Status: 502, Times: 3}, 3500 * time.Millisecond, 7 * time.Second},
		"503 that tells": {githubtest.Rule{Status: 503, Header: http.Header{"Retry-After": {"4"}}}, 4 * time.Second, 4 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			s := hub(t, githubtest.Config{})
			test.rule.Method, test.rule.Path = "GET", "/comments"
			s.Intercept(test.rule)
			p, c := publisher(t, s, pullTarget(), Options{})
			if _, err := p.Comment(context.Background(), Comment{Body: "x"}); err != nil {
				t.Fatal(err)
			}
			if got := c.total(); got < test.min || got > test.max {
				t.Errorf("slept %v, want between %v and %v", c.slept, test.min, test.max)
			}
			if len(s.Comments()) != 1 {
				t.Error("there is no comment")
			}
		})
	}
}

// TestWritesWaitForLimits: a request that a limit refused was not carried out, so writes are
// repeated too.
func TestWritesWaitForLimits(t *testing.T) {
	s, r := hub(t, githubtest.Config{}), findings(60)
	changed(s, r)
	slow := githubtest.Rule{Status: 403, Message: "You have exceeded a secondary rate limit.", Header: http.Header{"Retry-After": {"3"}}}
	for _, method := range []string{"POST", "PATCH"} {
		slow.Method = method
		s.Intercept(slow)
	}
	p, c := publisher(t, s, pullTarget(), Options{Login: "github-actions[bot]"})
	publish(t, p, r)
	wantRun(t, s, 60)
	if c.total() != 6*time.Second {
		t.Errorf("slept %v, want 6s", c.slept)
	}
}

// TestSpentLimitDoesNotStopLaterRequests: after the last request of a window, the client
// library does not refuse the next one by its own clock; GitHub decides.
func TestSpentLimitDoesNotStopLaterRequests(t *testing.T) {
	s := hub(t, githubtest.Config{})
	spent := http.Header{
		"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)},
	}
	s.Intercept(githubtest.Rule{Method: "GET", Path: "/comments", Status: 200, Header: spent})
	p, c := publisher(t, s, pullTarget(), Options{Login: "github-actions[bot]"})
	ctx := context.Background()
	_, _ = p.Comment(ctx, Comment{Body: "x"}) // the scripted answer is no list: only its headers matter
	if _, err := p.Comment(ctx, Comment{Body: "x"}); err != nil || len(c.slept) > 0 {
		t.Errorf("error %v after sleeping %v, want none", err, c.slept)
	}
}

// TestLongLimitsAreErrors: they are returned at once, with the time when the limit ends.
func TestLongLimitsAreErrors(t *testing.T) {
	s := hub(t, githubtest.Config{})
	until := time.Now().Add(time.Hour).Truncate(time.Second)
	s.Intercept(githubtest.Rule{
		Path: "/comments", Status: 403, Message: "API rate limit exceeded", Times: 9,
		Header: http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {strconv.FormatInt(until.Unix(), 10)}},
	})
	p, c := publisher(t, s, pullTarget(), Options{})
	_, err := p.Comment(context.Background(), Comment{Body: "x"})
	var refused *Error
	if !errors.As(err, &refused) || refused.Kind != KindLimited || refused.Degrades() {
		t.Fatalf("error %v, want KindLimited", err)
	}
	if d := refused.Until.Sub(until); d < 0 || d > 2*time.Second {
		t.Errorf("until %v, want %v", refused.Until, until)
	}
	if len(c.slept) > 0 {
		t.Errorf("slept %v, want not at all", c.slept)
	}
	if !strings.Contains(err.Error(), refused.Until.UTC().Format(time.RFC3339)) {
		t.Errorf("error %q does not tell when", err)
	}
}

func TestTriesAreBounded(t *testing.T) {
	s := hub(t, githubtest.Config{})
	s.Intercept(githubtest.Rule{Path: "/comments", Status: 503, Times: 99})
	p, _ := publisher(t, s, pullTarget(), Options{Login: "github-actions[bot]", Tries: 3})
	_, err := p.Comment(context.Background(), Comment{Body: "x"})
	var refused *Error
	if !errors.As(err, &refused) || refused.Kind != KindUnavailable || refused.Status != 503 || refused.Method != "GET" {
		t.Errorf("error %v, want KindUnavailable of 503", err)
	}
	if n := len(s.Requests()); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
}

// TestDeadline: there is no wait beyond the deadline, neither before a retry nor for a slow
// response.
func TestDeadline(t *testing.T) {
	t.Run("wait", func(t *testing.T) {
		s := hub(t, githubtest.Config{})
		s.Intercept(githubtest.Rule{Path: "/comments", Status: 429, Header: http.Header{"Retry-After": {"60"}}})
		p, c := publisher(t, s, pullTarget(), Options{})
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		_, err := p.Comment(ctx, Comment{Body: "x"})
		var refused *Error
		if !errors.As(err, &refused) || refused.Kind != KindLimited || len(c.slept) > 0 {
			t.Errorf("error %v after sleeping %v, want KindLimited at once", err, c.slept)
		}
	})
	t.Run("slow answer", func(t *testing.T) {
		s := hub(t, githubtest.Config{})
		s.Intercept(githubtest.Rule{Path: "/comments", Delay: time.Minute})
		p, _ := publisher(t, s, pullTarget(), Options{})
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		began := time.Now()
		_, err := p.Comment(ctx, Comment{Body: "x"})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 20*time.Second {
			t.Errorf("error %v after %v, want the deadline's soon", err, time.Since(began))
		}
	})
	t.Run("slow once", func(t *testing.T) {
		s := hub(t, githubtest.Config{})
		s.Intercept(githubtest.Rule{Path: "/comments", Delay: time.Minute})
		p, c := publisher(t, s, pullTarget(), Options{Timeout: 100 * time.Millisecond, Login: "github-actions[bot]"})
		if _, err := p.Comment(context.Background(), Comment{Body: "x"}); err != nil || len(c.slept) != 1 {
			t.Errorf("error %v after sleeping %v, want success the second time", err, c.slept)
		}
	})
}

// TestUnreachable: the error names the request without its query.
func TestUnreachable(t *testing.T) {
	s := hub(t, githubtest.Config{})
	p, _ := publisher(t, s, pullTarget(), Options{Token: "ghs_secret", Tries: 2})
	s.Close()
	err := p.Start(context.Background())
	var refused *Error
	if !errors.As(err, &refused) || refused.Kind != KindUnavailable || refused.Method != "GET" || refused.Path != "/user" {
		t.Fatalf("error %#v, want one of GET /user", err)
	}
	if strings.Contains(err.Error(), "ghs_secret") || strings.Contains(err.Error(), "?") {
		t.Errorf("error %q holds too much", err)
	}
}

// TestTokenGoesToItsHostOnly: this holds also when GitHub redirects to another host.
func TestTokenGoesToItsHostOnly(t *testing.T) {
	elsewhere := hub(t, githubtest.Config{})
	s := hub(t, githubtest.Config{Token: "ghs_secret"})
	s.Intercept(githubtest.Rule{
		Path: "/comments", Status: 307, Header: http.Header{"Location": {elsewhere.URL + "repos/octo/shop/issues/7/comments"}},
	})
	p, _ := publisher(t, s, pullTarget(), Options{Token: "ghs_secret"})
	if _, err := p.comments(context.Background()); err != nil {
		t.Fatal(err)
	}
	if n := len(elsewhere.Requests()); n != 1 {
		t.Fatalf("%d requests elsewhere, want 1", n)
	}
	if got := elsewhere.Requests()[0].Header.Get("Authorization"); got != "" {
		t.Errorf("the other host got %q", got)
	}
	for _, r := range s.Requests() {
		if r.Header.Get("Authorization") != "Bearer ghs_secret" {
			t.Errorf("%s %s went without the token", r.Method, r.Path)
		}
	}
}

func TestBadToken(t *testing.T) {
	s := hub(t, githubtest.Config{Token: "right"})
	p, _ := publisher(t, s, pullTarget(), Options{Token: "wrong", Login: "github-actions[bot]"})
	var refused *Error
	if err := p.Start(context.Background()); !errors.As(err, &refused) || refused.Kind != KindUnauthorized || !refused.Degrades() {
		t.Errorf("error %v, want KindUnauthorized", err)
	}
}

func TestKinds(t *testing.T) {
	for _, test := range []struct {
		status  int
		message string
		want    Kind
	}{
		{401, "Bad credentials", KindUnauthorized},
		{403, "Resource not accessible by integration", KindForbidden},
		{403, "Code Security must be enabled for this repository to use code scanning.", KindNotEnabled},
		{403, "Code scanning is not enabled for this repository.", KindNotEnabled},
		{403, "Unable to create comment because issue is locked.", KindLocked},
		{403, "Repository was archived so is read-only.", KindLocked},
		{403, "Repository access blocked", KindForbidden},
		{422, "No commit found for SHA: 1111", KindMissing},
		{404, "Not Found", KindMissing}, {410, "", KindMissing}, {413, "", KindTooLarge},
		{422, "Validation Failed", KindRejected}, {400, "", KindRejected}, {500, "", KindUnavailable},
	} {
		if got := kindOf(test.status, test.message); got != test.want {
			t.Errorf("%d %s: %s, want %s", test.status, test.message, got, test.want)
		}
	}
}

func TestGraphQLIsBesideTheAPI(t *testing.T) {
	got := map[string]string{}
	for _, base := range []string{"", "https://ghe.example.com/api/v3", "http://127.0.0.1:1/"} {
		p, err := New(pullTarget(), Options{BaseURL: base})
		if err != nil {
			t.Fatal(err)
		}
		got[base] = p.graphqlURL()
	}
	want := map[string]string{
		"": "https://api.github.com/graphql", "https://ghe.example.com/api/v3": "https://ghe.example.com/api/graphql",
		"http://127.0.0.1:1/": "http://127.0.0.1:1/graphql",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestErrorsAreOneLine: this holds for any message of a server.
func TestErrorsAreOneLine(t *testing.T) {
	s := hub(t, githubtest.Config{})
	s.Intercept(githubtest.Rule{Path: "/comments", Status: 400, Message: "no\n::error::\x1b[31m" + strings.Repeat("x", 5000)})
	p, _ := publisher(t, s, pullTarget(), Options{})
	_, err := p.Comment(context.Background(), Comment{Body: "x"})
	if err == nil || strings.ContainsAny(err.Error(), "\n\x1b") || len(err.Error()) > 1000 {
		t.Errorf("error %q", err)
	}
}

// roundTripper is a function as an http.RoundTripper.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestTokenIsNotSentInTheClear: a redirect to http does not get the token.
func TestTokenIsNotSentInTheClear(t *testing.T) {
	got := map[string]string{}
	client := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		got[r.URL.Scheme] = r.Header.Get("Authorization")
		answer := &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"login":"alice"}`))}
		if r.URL.Scheme == "https" {
			answer.StatusCode = 307
			answer.Header.Set("Location", "http://api.github.com/user")
		}
		return answer, nil
	})}
	p, err := New(pullTarget(), Options{Client: client, Token: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	if login, err := p.login(context.Background()); login != "alice" || err != nil {
		t.Fatalf("login %q, %v", login, err)
	}
	if diff := cmp.Diff(map[string]string{"https": "Bearer secret", "http": ""}, got); diff != "" {
		t.Errorf("authorization by scheme (-want +got):\n%s", diff)
	}
}
