package app

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/webhooks/metrics"
)

// clock does not wait: sleeping sets it forward.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Sleep(_ context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return nil
}

// env has a GitHub with an App that is installed on octo, and the App under test.
type env struct {
	*githubtest.Server
	t         *testing.T
	theirs    *githubtest.App
	installed *githubtest.Installation
	repo      *githubtest.Repository
	other     *githubtest.Repository
	ours      *App
	clock     *clock
	log       *bytes.Buffer
	registry  *prometheus.Registry
	metrics   *metrics.GitHub
}

func newEnv(t *testing.T, config githubtest.Config) *env {
	t.Helper()
	s, err := githubtest.New(config)
	if err != nil {
		t.Fatal(err)
	}
	w := &env{Server: s, t: t, clock: &clock{now: time.Now()}, log: &bytes.Buffer{}, registry: prometheus.NewRegistry()}
	t.Cleanup(func() {
		s.Close()
		for _, p := range s.Problems() {
			t.Errorf("GitHub's description or limits: %s", p)
		}
	})
	if w.repo, err = s.AddRepository(githubtest.RepositoryOptions{Owner: "octo", Name: "shop", Private: true}); err != nil {
		t.Fatal(err)
	}
	if w.other, err = s.AddRepository(githubtest.RepositoryOptions{Owner: "octo", Name: "other", Private: true}); err != nil {
		t.Fatal(err)
	}
	if w.theirs, err = s.AddApp(githubtest.AppOptions{}); err != nil {
		t.Fatal(err)
	}
	if w.installed, err = w.theirs.Install("octo"); err != nil {
		t.Fatal(err)
	}
	w.metrics = metrics.New(w.registry).GitHub
	w.ours, err = New(w.config())
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *env) credentials() Credentials {
	return Credentials{
		ID: w.theirs.ID, ClientID: w.theirs.ClientID, ClientSecret: w.theirs.ClientSecret, PrivateKey: w.theirs.PrivateKey,
		WebhookSecret: w.theirs.WebhookSecret(),
	}
}

func (w *env) config() Config {
	return Config{
		BaseURL: w.URL + "api/v3/", Credentials: w.credentials(), Clock: w.clock,
		Log: slog.New(slog.NewTextHandler(w.log, nil)), Metrics: w.metrics,
	}
}

// asked returns the statuses of the requests with a method and a suffix of the path.
func (w *env) statusesOf(method, path string) (statuses []int) {
	for _, r := range w.Requests() {
		if r.Method == method && strings.HasSuffix(r.Path, path) {
			statuses = append(statuses, r.Status)
		}
	}
	return statuses
}

func TestSelf(t *testing.T) {
	t.Parallel()
	w := newEnv(t, githubtest.Config{})
	for range 2 {
		login, err := w.ours.Login(context.Background())
		if err != nil || login != "preadmit[bot]" {
			t.Errorf("%q %v", login, err)
		}
	}
	if got := w.statusesOf("GET", "/app"); len(got) != 1 {
		t.Errorf("asked %v, want once", got)
	}
}

// TestWrongCredentials checks that errors name the key of the configuration and what to do.
func TestWrongCredentials(t *testing.T) {
	t.Parallel()
	w := newEnv(t, githubtest.Config{})
	other, err := w.AddApp(githubtest.AppOptions{Name: "other"})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change func(*Config)
		want   []string
	}{
		"no ID":          {func(c *Config) { c.Credentials.ID = 0 }, []string{KeyID + ": ", "settings page"}},
		"no secret":      {func(c *Config) { c.Credentials.WebhookSecret = "" }, []string{KeyWebhookSecret + ": ", "forge"}},
		"no key":         {func(c *Config) { c.Credentials.PrivateKey = nil }, []string{KeyPrivateKey + ": ", ".pem"}},
		"half a key":     {func(c *Config) { c.Credentials.PrivateKey = c.Credentials.PrivateKey[:500] }, []string{KeyPrivateKey + ": "}},
		"no URL":         {func(c *Config) { c.BaseURL = "github.com" }, []string{KeyBaseURL + ": ", "/api/v3/"}},
		"no pages":       {func(c *Config) { c.WebURL = "ftp://x" }, []string{KeyWebURL + ": "}},
		"another's key":  {func(c *Config) { c.Credentials.PrivateKey = other.PrivateKey }, []string{KeyID, KeyPrivateKey, "401", "make a new key"}},
		"an unknown App": {func(c *Config) { c.Credentials.ID = 7 }, []string{KeyID, KeyPrivateKey, "Integration not found"}},
	} {
		config := w.config()
		test.change(&config)
		a, err := New(config)
		if err == nil {
			if _, _, err = a.Self(context.Background()); !errors.Is(err, ErrCredentials) {
				t.Errorf("%s: %v is not ErrCredentials", name, err)
			}
		}
		for _, part := range test.want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v lacks %q", name, err, part)
			}
		}
		if err != nil && strings.Contains(err.Error(), string(w.theirs.PrivateKey[40:80])) {
			t.Errorf("%s: %v holds the key", name, err)
		}
	}
}

// TestWebURL checks how WebURL is derived from the API's URL.
func TestWebURL(t *testing.T) {
	t.Parallel()
	w := newEnv(t, githubtest.Config{})
	for base, want := range map[string]string{
		"": "https://github.com", "https://ghe.example.com/api/v3": "https://ghe.example.com", w.URL: w.WebURL,
	} {
		a, err := New(Config{BaseURL: base, Credentials: w.credentials()})
		if err != nil || a.WebURL() != want {
			t.Errorf("%s: %s %v, want %s", base, a.WebURL(), err, want)
		}
	}
}

// TestReload checks that existing tokens stay in use, new ones are requested with the new key, and the
// previous webhook secret is accepted for a while.
func TestReload(t *testing.T) {
	t.Parallel()
	w, ctx := newEnv(t, githubtest.Config{}), context.Background()
	access := w.ours.Repository(w.installed.ID(), w.repo.ID())
	before, err := access.Token(ctx)
	if err != nil {
		t.Fatal(err)
	}
	key, err := w.theirs.RotateKey()
	if err != nil {
		t.Fatal(err)
	}
	broken := w.credentials()
	broken.PrivateKey = []byte("x")
	if err := w.ours.Reload(ctx, broken); err == nil || !strings.Contains(err.Error(), KeyPrivateKey) {
		t.Errorf("broken credentials: %v", err)
	}
	if _, err := w.ours.Repository(w.installed.ID(), w.other.ID()).Token(ctx); !errors.Is(err, ErrCredentials) {
		t.Errorf("with the key before: %v", err)
	}
	fresh := w.credentials()
	fresh.PrivateKey, fresh.WebhookSecret = key, "another"
	if err := w.ours.Reload(ctx, fresh); err != nil {
		t.Fatal(err)
	}
	if after, err := access.Token(ctx); err != nil || after != before {
		t.Errorf("the token was not kept: %v", err)
	}
	if _, err := w.ours.Repository(w.installed.ID(), w.other.ID()).Token(ctx); err != nil {
		t.Errorf("with the new key: %v", err)
	}
	both := w.ours.WebhookSecrets()
	_ = w.clock.Sleep(ctx, 11*time.Minute) // never fails
	if diff := cmp.Diff([][]byte{[]byte("another"), []byte("webhook-secret")}, both); diff != "" || len(w.ours.WebhookSecrets()) != 1 {
		t.Errorf("secrets, %d later (-want +got):\n%s", len(w.ours.WebhookSecrets()), diff)
	}
}

// TestReloadOfAnotherApp checks that the tokens of the previous App are removed.
func TestReloadOfAnotherApp(t *testing.T) {
	t.Parallel()
	w, ctx := newEnv(t, githubtest.Config{}), context.Background()
	if _, err := w.ours.Repository(w.installed.ID(), w.repo.ID()).Token(ctx); err != nil {
		t.Fatal(err)
	}
	other, err := w.AddApp(githubtest.AppOptions{Name: "other"})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.ours.Reload(ctx, Credentials{ID: other.ID, PrivateKey: other.PrivateKey, WebhookSecret: "x"}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.ours.Repository(w.installed.ID(), w.repo.ID()).Token(ctx); !errors.Is(err, ErrGone) {
		t.Errorf("an installation of the App before: %v", err)
	}
	if login, err := w.ours.Login(ctx); login != "other[bot]" {
		t.Errorf("%q %v", login, err)
	}
}

// TestReloadOfTheWrongKey checks that credentials that GitHub rejects or does not answer for are not
// used, nor anything that was loaded with them.
func TestReloadOfTheWrongKey(t *testing.T) {
	t.Parallel()
	w, ctx := newEnv(t, githubtest.Config{}), context.Background()
	other, err := w.AddApp(githubtest.AppOptions{Name: "other"})
	if err != nil {
		t.Fatal(err)
	}
	present, next := w.credentials(), w.credentials()
	next.WebhookSecret, next.PrivateKey = "another", other.PrivateKey
	unknown := next
	unknown.ID = 7
	for _, c := range []Credentials{next, unknown} {
		if err := w.ours.Reload(ctx, c); !errors.Is(err, ErrCredentials) || !strings.Contains(err.Error(), KeyPrivateKey) {
			t.Errorf("%v with another's key: %v", c, err)
		}
	}
	if next.PrivateKey, err = w.theirs.RotateKey(); err != nil {
		t.Fatal(err)
	}
	w.Intercept(githubtest.Rule{Method: "GET", Path: "/app", Status: 502, Times: 9})
	if err := w.ours.Reload(ctx, next); err == nil || errors.Is(err, ErrCredentials) {
		t.Errorf("without an answer: %v", err)
	}
	if same := cmp.Equal(present, w.ours.Credentials()); !same || len(w.ours.WebhookSecrets()) != 1 {
		t.Errorf("the present credentials stayed: %v, with %d webhook secrets", same, len(w.ours.WebhookSecrets()))
	}
}

// TestReloadOfASecret checks that a new secret causes no request: GitHub cannot verify it.
func TestReloadOfASecret(t *testing.T) {
	t.Parallel()
	w := newEnv(t, githubtest.Config{})
	c := w.credentials()
	c.WebhookSecret, c.ClientSecret = "another", "one more"
	if err := w.ours.Reload(context.Background(), c); err != nil || len(w.Requests()) != 0 {
		t.Errorf("%v after %d requests", err, len(w.Requests()))
	}
	if !cmp.Equal(c, w.ours.Credentials()) {
		t.Error("the secrets were not taken")
	}
}

// TestAnotherGitHub checks the error for a GitHub whose App is another one.
func TestAnotherGitHub(t *testing.T) {
	t.Parallel()
	w := newEnv(t, githubtest.Config{})
	config := w.config()
	config.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		body := io.NopCloser(strings.NewReader(`{"id": 5, "slug": "other"}`))
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: body, Request: r}, nil
	})
	a, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Login(context.Background()); !errors.Is(err, ErrCredentials) || !strings.Contains(err.Error(), KeyBaseURL) {
		t.Errorf("%v", err)
	}
}

// TestClocks checks that GitHub's clock may be ahead or behind.
func TestClocks(t *testing.T) {
	t.Parallel()
	for _, skew := range []time.Duration{-20 * time.Minute, -2 * time.Minute, -25 * time.Second, 25 * time.Second, 2 * time.Minute, 20 * time.Minute} {
		w := newEnv(t, githubtest.Config{Now: func() time.Time { return time.Now().Add(skew) }})
		for range 2 {
			if _, err := w.ours.Installations(context.Background()); err != nil {
				t.Errorf("%v: %v", skew, err)
			}
		}
		if _, err := w.ours.Repository(w.installed.ID(), w.repo.ID()).Token(context.Background()); err != nil {
			t.Errorf("%v: %v", skew, err)
		}
		refused := 0
		for _, r := range w.Requests() {
			if r.Status == 401 {
				refused++
			}
		}
		if refused > 1 || refused == 1 && skew.Abs() < skewed {
			t.Errorf("%v: refused %d times", skew, refused)
		}
	}
}
