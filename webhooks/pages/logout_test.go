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
)

// stolen returns a site in a browser with the cookies of another.
func stolen(from *site, to *site) *site {
	from.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		from.Fatal(err)
	}
	at := func(s *site) *url.URL {
		u, err := url.Parse(s.url)
		if err != nil {
			s.Fatal(err)
		}
		return u
	}
	jar.SetCookies(at(to), from.client.Jar.Cookies(at(from)))
	thief := *to
	thief.client = browser()
	thief.client.Jar = jar
	return &thief
}

// TestLogout checks that a copy of the cookie is useless after logging out: here, and at another
// replica, for which GitHub rejects the token.
func TestLogout(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	replica := newSite(t, func(c *pages.Config) {
		c.Access, c.App, c.Admins = pages.AccessGitHub, w.app, []string{"alice"}
	})
	alice, _ := w.as("alice", "/")
	thief, other := stolen(alice, w.site), stolen(alice, replica)
	thief.get("/scans/"+id(1), 200)
	other.get("/", 200)
	unknown := stolen(alice, replica)

	w.wants(alice.ask("POST", "/logout", "").body, "You are logged out", "!could not be ended")
	for _, path := range []string{"/", "/scans/" + id(1), "/queue"} {
		thief.get(path, 401)
		alice.get(path, 401)
	}
	if got := thief.ask("POST", "/scans/"+id(1)+"/rescan", ""); got.status != 401 {
		t.Errorf("a thief's rescan is answered with %d", got.status)
	}
	unknown.get("/queue", 401)

	again, _ := w.as("alice", "/") // another login gets another token
	again.get("/queue", 200)
	w.noSecrets(again)
}

// TestLogoutWithoutGitHub checks that a session ends also when GitHub does not answer, and that the
// viewer sees that the token was not revoked.
func TestLogoutWithoutGitHub(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	alice, _ := w.as("alice", "/")
	thief := stolen(alice, w.site)
	w.hub.Intercept(githubtest.Rule{Method: "DELETE", Path: "/token", Status: 502})
	got := alice.ask("POST", "/logout", "")
	if got.status != 200 || !strings.Contains(got.header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("logging out answers %d %v", got.status, got.header)
	}
	w.wants(got.body, "You are logged out", "The login at GitHub could not be ended")
	w.wants(w.log.String(), "GitHub did not end the token")
	thief.get("/", 401)
	w.noSecrets(thief)

	w.wants(w.ask("POST", "/logout", "").body, "You are logged out") // without a login
	if got := thief.ask("POST", "/logout", "", "Sec-Fetch-Site", "cross-site"); got.status != 403 {
		t.Errorf("another site logs out: %d", got.status)
	}
}

// TestOperatorsAreKnownToGitHub checks that pages without a repository also check the token with
// GitHub.
func TestOperatorsAreKnownToGitHub(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	alice, _ := w.as("alice", "/queue")
	w.hub.Intercept(githubtest.Rule{Method: "GET", Path: "/user", Status: 401})
	alice.get("/queue", 200) // cached for a minute
	w.clock.pass(61 * time.Second)
	w.wants(alice.get("/queue", 401).body, "Log in to see this")

	alice, _ = w.as("alice", "/")
	w.clock.pass(61 * time.Second)
	w.hub.Intercept(githubtest.Rule{Method: "GET", Path: "/user", Status: http.StatusBadGateway})
	w.wants(alice.get("/queue", 503).body, "GitHub does not answer")
}
