package pages_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/webhooks/app"
	"github.com/preadmit/preadmit/webhooks/pages"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// env has a site and a GitHub: octo/shop is private, alice may write to it and bob read it;
// octo/open is public; eve is anybody else.
type env struct {
	*apiSite
	hub        *githubtest.Server
	app        *app.App
	shop, open *githubtest.Repository
	log        *logBuffer
	clock      *clock
}

// logBuffer is a log for concurrent use.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// clock is a clock that tests set.
type clock struct {
	mu   sync.Mutex
	more time.Duration
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.more)
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.more += d
}

// newEnv returns an env; options change its configuration.
func newEnv(t *testing.T, options ...func(*pages.Config)) *env {
	t.Helper()
	hub, err := githubtest.New(githubtest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hub.Close)
	w := &env{hub: hub, log: &logBuffer{}, clock: &clock{}}
	w.shop = w.repository(t, "shop", true)
	w.shop.SetRole("alice", "write")
	w.shop.SetRole("bob", "read")
	w.open = w.repository(t, "open", false)
	w.apiSite = newAPISite(t, func(c *pages.Config) {
		w.app = w.newApp(t, c.PublicURL)
		c.Access, c.App, c.Admins, c.Now = pages.AccessGitHub, w.app, []string{"Alice"}, w.clock.Now
		c.Log = slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		for _, option := range options {
			option(c)
		}
	})
	w.put(scanOf(1), func(s *queue.Scan) { s.Repository = w.shop.ID() })
	w.put(scanOf(2), func(s *queue.Scan) { s.Repository, s.Repo = w.open.ID(), "open" })
	t.Cleanup(func() {
		for _, problem := range hub.Problems() {
			t.Errorf("GitHub: %s", problem)
		}
	})
	return w
}

func (w *env) repository(t *testing.T, name string, private bool) *githubtest.Repository {
	t.Helper()
	r, err := w.hub.AddRepository(githubtest.RepositoryOptions{Owner: "octo", Name: name, Private: private, Files: githubtest.Files{"a.yaml": "a: 1\n"}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (w *env) newApp(t *testing.T, publicURL string) *app.App {
	t.Helper()
	made, err := w.hub.AddApp(githubtest.AppOptions{Callbacks: []string{publicURL + "/login/callback"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := made.Install("octo"); err != nil {
		t.Fatal(err)
	}
	a, err := app.New(app.Config{BaseURL: w.hub.URL, WebURL: w.hub.WebURL, Credentials: app.Credentials{
		ID: made.ID, ClientID: made.ClientID, ClientSecret: made.ClientSecret, PrivateKey: made.PrivateKey, WebhookSecret: made.WebhookSecret(),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// as returns the site in the browser of a viewer, who logs in from a page, and the page after
// that.
func (w *env) as(login, path string) (*site, answer) {
	w.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		w.Fatal(err)
	}
	w.hub.SetViewer(login)
	s := *w.site
	s.client = &http.Client{Jar: jar, Timeout: 30 * time.Second}
	got := s.ask("GET", "/login?return="+url.QueryEscape(path), "")
	s.client.CheckRedirect = browser().CheckRedirect
	return &s, got
}

// noSecrets checks that tokens are neither in the log nor in the responses.
func (w *env) noSecrets(browsers ...*site) {
	w.Helper()
	shown := w.log.String()
	for _, s := range browsers {
		for _, path := range []string{"/", "/scans/" + id(1), "/queue", "/none"} {
			got := s.ask("GET", path, "")
			shown += got.body
			for _, values := range got.header {
				shown += strings.Join(values, "\n")
			}
		}
	}
	for _, secret := range append(w.hub.Tokens(), w.app.Credentials().ClientSecret) {
		if strings.Contains(shown, secret) {
			w.Errorf("%s is shown", secret)
		}
	}
	if len(w.hub.Tokens()) == 0 {
		w.Error("nobody got a token")
	}
}
