package pages_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/webhooks/pages"
)

// TestProxy checks that the viewer's name is accepted from a trusted proxy only, in one header.
func TestProxy(t *testing.T) {
	t.Parallel()
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
