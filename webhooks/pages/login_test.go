package pages_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/preadmit/preadmit/report/github/githubtest"
	"github.com/preadmit/preadmit/webhooks/app"
	"github.com/preadmit/preadmit/webhooks/pages"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// world is a site that asks a GitHub: octo/shop is private, alice may write to it and
// bob read it; octo/open is public; eve is anybody.
type world struct {
	*apiSite
	hub        *githubtest.Server
	app        *app.App
	shop, open *githubtest.Repository
	log        *logBuffer
	clock      *clock
}

// logBuffer is a log for several goroutines.
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

// clock goes on when it is told to.
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

func newWorld(t *testing.T) *world {
	t.Helper()
	hub, err := githubtest.New(githubtest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hub.Close)
	w := &world{hub: hub, log: &logBuffer{}, clock: &clock{}}
	w.shop = w.repository(t, "shop", true)
	w.shop.SetRole("alice", "write")
	w.shop.SetRole("bob", "read")
	w.open = w.repository(t, "open", false)
	w.apiSite = newAPISite(t, func(c *pages.Config) {
		w.app = w.newApp(t, c.PublicURL)
		c.Access, c.App, c.Admins, c.Now = pages.AccessGitHub, w.app, []string{"Alice"}, w.clock.Now
		c.Log = slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
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

func (w *world) repository(t *testing.T, name string, private bool) *githubtest.Repository {
	t.Helper()
	r, err := w.hub.AddRepository(githubtest.RepositoryOptions{Owner: "octo", Name: name, Private: private, Files: githubtest.Files{"a.yaml": "a: 1\n"}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (w *world) newApp(t *testing.T, publicURL string) *app.App {
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

// as is the site in a browser of a viewer, who logs in from a page, and what they saw
// then.
func (w *world) as(login, path string) (*site, answer) {
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

// TestLogin: who may read a repository sees its scans, and nobody else.
func TestLogin(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"/", "/scans/" + id(1), "/scans/" + id(9), "/repos/octo/shop", "/scans/" + id(1) + "/report.json", "/queue"} {
		got := w.get(path, 401)
		w.wants(got.body, "Log in to see this", `href="/login?return=`, "!Raise the limits", "!octo/shop<")
	}
	alice, got := w.as("alice", "/scans/"+id(1))
	if got.status != 200 {
		t.Fatalf("after the login: %d %s", got.status, got.body)
	}
	w.wants(got.body, "#7 Raise the limits", "alice", "Log out", "rescan")
	w.wants(alice.get("/", 200).body, "octo/shop", "octo/open", `href="/queue"`)
	alice.get("/queue", 200)

	bob, got := w.as("bob", "/")
	w.wants(got.body, "octo/shop", "octo/open", `!href="/queue"`)
	w.wants(bob.get("/scans/"+id(1), 200).body, "!rescan")
	if refused := bob.ask("POST", "/scans/"+id(1)+"/rescan", ""); refused.status != 403 {
		t.Errorf("bob's rescan is answered with %d", refused.status)
	}
	w.wants(bob.get("/queue", 403).body, "For operators only")
	if refused := bob.ask("POST", "/queue/dead/1/revive", ""); refused.status != 403 {
		t.Errorf("bob revives: %d", refused.status)
	}

	eve, got := w.as("eve", "/")
	w.wants(got.body, "!octo/shop", "octo/open")
	for _, path := range []string{"/scans/" + id(1), "/repos/octo/shop", "/repos/octo/shop/pulls/7", "/scans/" + id(1) + "/report.json", "/scans/" + id(1) + "/status"} {
		none := strings.NewReplacer(id(1), id(9), "shop", "none").Replace(path)
		if there, not := eve.get(path, 404).body, eve.get(none, 404).body; there != not {
			t.Errorf("%s and %s are told apart", path, none)
		}
	}
	if got := eve.ask("POST", "/scans/"+id(1)+"/rescan", ""); got.status != 404 {
		t.Errorf("eve's rescan is answered with %d", got.status)
	}
	if n := len(w.queue.Scans(queue.ScanFilter{})); n != 2 {
		t.Errorf("there are %d scans", n)
	}
	got = alice.ask("POST", "/scans/"+id(1)+"/rescan", "")
	if got.status != 303 {
		t.Errorf("alice's rescan is answered with %d", got.status)
	}
	w.noSecrets(alice, bob, eve)
}

// noSecrets looks for tokens in what was logged and shown.
func (w *world) noSecrets(browsers ...*site) {
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

// TestLoginAnswers: what comes back from GitHub must belong to a login that began in
// this browser.
func TestLoginAnswers(t *testing.T) {
	w := newWorld(t)
	w.hub.SetViewer("alice")
	start := func() (s *site, answered *url.URL) {
		t.Helper()
		jar, _ := cookiejar.New(nil)
		copied := *w.site
		copied.client = &http.Client{Jar: jar, CheckRedirect: browser().CheckRedirect, Timeout: 30 * time.Second}
		to := copied.get("/login?return=/queue", 303).header.Get("Location")
		resp, err := copied.client.Get(to)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		answered, err = resp.Location()
		if err != nil {
			t.Fatal(err)
		}
		return &copied, answered
	}
	failed := func(s *site, query string) {
		t.Helper()
		w.wants(s.get("/login/callback?"+query, 400).body, "You are not logged in", `href="/login?return=`)
		s.get("/", 401)
	}

	s, back := start()
	failed(w.site, back.RawQuery) // another browser
	query := back.Query()
	query.Set("state", "other")
	failed(s, query.Encode())

	s, back = start()
	_, other := start()
	query = back.Query()
	query.Set("code", other.Query().Get("code")) // the code of a login whose verifier is another
	failed(s, query.Encode())

	s, back = start()
	w.clock.pass(11 * time.Minute)
	failed(s, back.RawQuery)

	s, back = start()
	failed(s, "error=access_denied&state="+back.Query().Get("state"))

	s, back = start()
	if got := s.get("/login/callback?"+back.RawQuery, 303).header.Get("Location"); got != "/queue" {
		t.Errorf("after the login it leads to %q", got)
	}
	s.get("/queue", 200)
	failed(w.site, back.RawQuery) // the code was used
	if w.log.String() == "" {
		t.Error("nothing was logged of a login that failed")
	}
	for _, query := range []string{back.Query().Get("code"), other.Query().Get("code")} {
		w.wants(w.log.String(), "!"+query)
	}
}

// TestSession: a session ends with its time, with logging out, with another client
// secret, and when GitHub no longer takes the token; nobody can make one.
func TestSession(t *testing.T) {
	w := newWorld(t)
	alice, _ := w.as("alice", "/")
	alice.get("/", 200)
	if got := alice.ask("POST", "/logout", ""); got.status != 200 || !strings.Contains(got.header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("logging out answers %d %v", got.status, got.header)
	}
	alice.get("/", 401)

	alice, _ = w.as("alice", "/")
	w.clock.pass(7*time.Hour + 55*time.Minute)
	w.get("/", 401)
	alice.get("/none", 404) // the session is not asked for what is not there
	if got := alice.ask("GET", "/", ""); got.status != 200 {
		t.Errorf("after almost 8 hours: %d", got.status)
	}
	w.clock.pass(6 * time.Minute)
	alice.get("/", 401)

	alice, _ = w.as("alice", "/")
	credentials := w.app.Credentials()
	credentials.ClientSecret = "another"
	if err := w.app.Reload(credentials); err != nil {
		t.Fatal(err)
	}
	alice.get("/", 401)
	for _, cookie := range []string{"x", "", strings.Repeat("A", 3000)} {
		if got := w.ask("GET", "/", "", "Cookie", "preadmit-session="+cookie); got.status != 401 {
			t.Errorf("a forged cookie: %d", got.status)
		}
	}
}

func TestGitHubTakesBack(t *testing.T) {
	w := newWorld(t)
	alice, _ := w.as("alice", "/")
	w.shop.SetRole("alice", "")
	alice.get("/scans/"+id(1), 200) // believed for a minute
	w.clock.pass(61 * time.Second)
	alice.get("/scans/"+id(1), 404)

	w.clock.pass(61 * time.Second)
	w.hub.Intercept(githubtest.Rule{Method: "GET", Path: "/repos/octo/shop", Status: 502})
	w.wants(alice.get("/scans/"+id(1), 503).body, "GitHub does not answer", "!Raise")

	w.hub.Intercept(githubtest.Rule{Method: "GET", Path: "/repos/octo/shop", Status: 401})
	got := alice.get("/scans/"+id(1), 401)
	w.wants(got.body, "Log in to see this")
	alice.get("/", 401) // the cookie is gone
}

// TestAnotherRepositoryOfTheName: the scans of a repository that is gone are not those
// of whoever took its name.
func TestAnotherRepositoryOfTheName(t *testing.T) {
	w := newWorld(t)
	w.shop.Delete()
	taken := w.repository(t, "shop", true)
	taken.SetRole("eve", "admin")
	eve, _ := w.as("eve", "/")
	eve.get("/scans/"+id(1), 404)
}

// TestCookies: over https cookies are for this host only; they never go to scripts.
func TestCookies(t *testing.T) {
	w := newWorld(t)
	s := newSite(t, func(c *pages.Config) {
		c.PublicURL, c.Access, c.App = "https://preadmit.example", pages.AccessGitHub, w.app
	})
	cookies := (&http.Response{Header: s.get("/login", 303).header}).Cookies()
	if len(cookies) != 1 {
		t.Fatalf("the cookies are %v", cookies)
	}
	c := cookies[0]
	if c.Name != "__Host-preadmit-login" || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || c.MaxAge < 590 || c.MaxAge > 600 {
		t.Errorf("the cookie is %+v", c)
	}
}

// TestReturn: after the login it leads to a page of the service, whatever was asked.
func TestReturn(t *testing.T) {
	w := newWorld(t)
	for asked, want := range map[string]string{
		"/scans/x?a=b": "/scans/x?a=b", "": "/", "https://evil.example/": "/", "//evil.example": "/", `/\evil.example`: "/", "/\t/evil.example": "/",
		"/%2f/evil.example": "/", "//evil.example/..": "/", "javascript:alert(1)": "/", "/login/callback?code=x": "/", "/logout": "/",
		"/ü": "/", "/a\r\nSet-Cookie: x=y": "/", "/" + strings.Repeat("a", 3000): "/", "scans": "/", "/%zz": "/",
	} {
		w.hub.SetViewer("alice")
		s, _ := w.as("alice", "/")
		r := s.get("/login?return="+url.QueryEscape(asked), 303)
		resp, err := s.client.Get(r.header.Get("Location"))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		back, err := resp.Location()
		if err != nil {
			t.Fatal(err)
		}
		if got := s.get(back.RequestURI(), 303).header.Get("Location"); got != want {
			t.Errorf("%q leads to %q, want %q", asked, got, want)
		}
	}
}

// TestProxy: only a trusted proxy names the viewer, once.
func TestProxy(t *testing.T) {
	proxied := func(admins ...string) *site {
		s := newSite(t, func(c *pages.Config) {
			c.Access, c.Header, c.Proxies, c.Admins = pages.AccessProxy, "X-Forwarded-User", []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, admins
		})
		s.put(scanOf(1), nil)
		return s
	}
	s := proxied("root")
	for _, header := range [][]string{nil, {"X-Forwarded-User", ""}, {"X-Forwarded-User", "root", "X-Forwarded-User", "carol"}, {"X-Forwarded-User", strings.Repeat("a", 300)}} {
		if got := s.ask("GET", "/", "", header...); got.status != 403 || strings.Contains(got.body, "octo") {
			t.Errorf("%v: %d", header, got.status)
		}
	}
	carol := s.ask("GET", "/", "", "X-Forwarded-User", "<carol>")
	s.wants(carol.body, "octo/shop", "&lt;carol&gt;", "!/queue", "!Log out")
	if got := s.ask("GET", "/queue", "", "X-Forwarded-User", "carol"); got.status != 403 {
		t.Errorf("carol sees the queue: %d", got.status)
	}
	if got := s.ask("GET", "/queue", "", "X-Forwarded-User", "Root"); got.status != 200 {
		t.Errorf("root does not see the queue: %d", got.status)
	}
	if got := proxied().ask("GET", "/queue", "", "X-Forwarded-User", "carol"); got.status != 200 {
		t.Errorf("without a list carol does not see the queue: %d", got.status)
	}
	if got := s.ask("GET", "/login", ""); got.status != 404 {
		t.Errorf("there is a login: %d", got.status)
	}

	elsewhere := newSite(t, func(c *pages.Config) {
		c.Access, c.Header, c.Proxies = pages.AccessProxy, "X-Forwarded-User", []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	})
	got := elsewhere.ask("GET", "/", "", "X-Forwarded-User", "root", "X-Forwarded-For", "10.0.0.1")
	if got.status != 403 {
		t.Errorf("from elsewhere: %d", got.status)
	}
	s.wants(got.body, "Not by way of the proxy", "127.0.0.1")
}

// TestAPIStarts: the API enqueues a scan of a repository that the App is installed on,
// once for each key.
func TestAPIStarts(t *testing.T) {
	w := newWorld(t)
	const body = `{"repository":"octo/shop","pull":7}`
	first := w.call("POST", "/api/v1/scans", "token-of-shop", body, "Idempotency-Key", "build 1")
	if first.status != 202 {
		t.Fatalf("the answer is %+v", first)
	}
	started := decode[struct{ ID, URL string }](w.site, first.body)
	if first.header.Get("Location") != started.URL || started.URL != w.url+"/api/v1/scans/"+started.ID {
		t.Errorf("it leads to %q and %q", first.header.Get("Location"), started.URL)
	}
	w.await(started.ID, func(s queue.Scan) bool { return s.Repository == w.shop.ID() && s.Pull == 7 && s.Reason == "api" })
	w.wants(w.call("GET", "/api/v1/scans/"+started.ID, "token-of-shop", "").body, `"state":"queued"`)
	claim, err := w.queue.Next(t.Context())
	if err != nil || claim.Job.ID != started.ID || !claim.Job.Fresh {
		t.Errorf("the job is %+v: %v", claim, err)
	}
	var group sync.WaitGroup
	for range 8 { // also at the same time, and after it was claimed
		group.Go(func() {
			if again := w.call("POST", "/api/v1/scans", "token-of-shop", body, "Idempotency-Key", "build 1"); again.status != 202 || again.body != first.body {
				t.Errorf("asked again: %d %s", again.status, again.body)
			}
		})
	}
	group.Wait()
	if stats, err := w.queue.Stats(t.Context()); err != nil || stats.Pending != 0 {
		t.Errorf("there are %d jobs: %v", stats.Pending, err)
	}
	ids := map[string]bool{started.ID: true}
	for _, call := range [][]string{{"token-of-shop", body, "build 2"}, {"token-of-all", body, "build 1"}, {"token-of-shop", body, ""}, {"token-of-shop", body, ""}, {"token-of-shop", `{"repository":"octo/shop","pull":8}`, "build 1"}} {
		got := w.call("POST", "/api/v1/scans", call[0], call[1], "Idempotency-Key", call[2])
		ids[decode[struct{ ID, URL string }](w.site, got.body).ID] = true
	}
	if len(ids) != 6 {
		t.Errorf("the ids are %v", ids)
	}
	got := w.call("POST", "/api/v1/scans", "token-of-all", `{"repository":"octo/none","pull":7}`)
	w.wants(got.body, `"field":"repository"`, "not installed there")
	w.hub.Intercept(githubtest.Rule{Method: "GET", Path: "/repos/octo/shop/installation", Status: 401, Times: 9})
	if got := w.call("POST", "/api/v1/scans", "token-of-all", body); got.status != 503 || got.header.Get("Retry-After") == "" {
		t.Errorf("without GitHub: %+v", got)
	}
	w.noSecrets(w.site2())
}

// site2 is a browser in which alice is logged in.
func (w *world) site2() *site {
	alice, _ := w.as("alice", "/")
	return alice
}
