package pages_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/webhooks/pages"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// TestLogin checks that exactly those who may read a repository see its scans.
func TestLogin(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
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
	w.wants(alice.get("/nowhere", 404).body, "There is nothing here", "Log out", `href="/queue"`)

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
	asked := func() (n int) {
		for _, r := range w.hub.Requests() {
			if r.Path == "/repos/octo/none" {
				n++
			}
		}
		return n
	}
	if asked() != 1 { // otherwise the response would be faster
		t.Errorf("GitHub is asked %d times about a repository that has no scans", asked())
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

// TestLoginAnswers checks that the redirect from GitHub must belong to a login that began in
// this browser.
func TestLoginAnswers(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
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
	query.Set("code", other.Query().Get("code")) // the code of a login with another verifier
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

// TestSession checks that a session ends after its time, by logging out, with another client secret,
// and when GitHub rejects the token, and that it cannot be forged.
func TestSession(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	alice, _ := w.as("alice", "/")
	alice.get("/", 200)
	if got := alice.ask("POST", "/logout", ""); got.status != 200 || !strings.Contains(got.header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("logging out answers %d %v", got.status, got.header)
	}
	alice.get("/", 401)

	alice, _ = w.as("alice", "/")
	w.clock.pass(7*time.Hour + 55*time.Minute)
	w.get("/", 401)
	alice.get("/none", 404) // the session is not checked for unknown paths
	if got := alice.ask("GET", "/", ""); got.status != 200 {
		t.Errorf("after almost 8 hours: %d", got.status)
	}
	w.clock.pass(6 * time.Minute)
	alice.get("/", 401)

	alice, _ = w.as("alice", "/")
	credentials := w.app.Credentials()
	credentials.ClientSecret = "another"
	if err := w.app.Reload(t.Context(), credentials); err != nil {
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
	t.Parallel()
	w := newEnv(t)
	alice, _ := w.as("alice", "/")
	w.shop.SetRole("alice", "")
	alice.get("/scans/"+id(1), 200) // cached for a minute
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

// TestAnotherRepositoryOfTheName checks that the scans of a deleted repository are not shown to the
// owner of a new one with its name.
func TestAnotherRepositoryOfTheName(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	w.shop.Delete()
	taken := w.repository(t, "shop", true)
	taken.SetRole("eve", "admin")
	eve, _ := w.as("eve", "/")
	eve.get("/scans/"+id(1), 404)
}

// TestCookies checks that over https cookies are for this host only, and never accessible to scripts.
func TestCookies(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
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

// TestReturn checks that a login redirects only to pages of the service.
func TestReturn(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
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
