package pages

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report/format/escape"
)

// viewer is the user who views a page.
type viewer struct {
	// Login is the name on GitHub or the one from the proxy's header; empty when open.
	Login string
	// Operator is set if the viewer may see the queue and revive dead letters.
	Operator bool
	// token is the viewer's GitHub token; empty if all viewers see everything.
	token string
}

// admit returns the viewer of a request, or an error with a page.
func (p *Pages) admit(r *http.Request) (*viewer, error) {
	switch p.config.Access {
	case AccessOpen:
		return p.admitLoopback(r)
	case AccessProxy:
		return p.admitProxied(r)
	}
	s, err := p.session(r)
	if err != nil {
		return nil, loginNeeded(r)
	}
	return &viewer{Login: s.Login, Operator: p.isAdmin(s.Login), token: s.Token}, nil
}

// admitLoopback admits requests from this machine for this machine. It checks the Host header
// against DNS rebinding.
func (p *Pages) admitLoopback(r *http.Request) (*viewer, error) {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if !remote(r).IsLoopback() || !loopbackName(strings.Trim(host, "[]")) {
		return nil, &problem{Status: http.StatusForbidden, Title: "Only from this machine",
			Text: "Without a login, pages are shown on the loopback interface only.",
			Hint: "Open them as " + p.public.String() + " on the machine that the service runs on, or configure pages.access."}
	}
	return &viewer{Operator: true}, nil
}

// longestName limits a viewer's name, in bytes.
const longestName = 256

// admitProxied accepts the header of a trusted proxy if it occurs exactly once: the viewer may
// have sent a second one.
func (p *Pages) admitProxied(r *http.Request) (*viewer, error) {
	from := remote(r)
	if !slices.ContainsFunc(p.config.Proxies, func(n netip.Prefix) bool { return n.Contains(from) }) {
		return nil, &problem{Status: http.StatusForbidden, Title: "Not by way of the proxy",
			Text: "Pages are shown by way of a proxy that names the viewer.",
			Hint: "Use the proxy's address. If this was the proxy, its address " + from.String() + " is missing in pages.trustedProxies."}
	}
	names := r.Header.Values(p.config.Header)
	if len(names) != 1 || strings.TrimSpace(names[0]) == "" || len(names[0]) > longestName {
		return nil, &problem{Status: http.StatusForbidden, Title: "The proxy names no viewer",
			Text: "The proxy must set the header " + p.config.Header + " once, to the viewer's name, and remove what the viewer sent.",
			Hint: "Log in at the proxy, or ask who runs it."}
	}
	name := strings.TrimSpace(names[0])
	name = escape.Line(name)
	return &viewer{Login: name, Operator: len(p.config.Admins) == 0 || p.isAdmin(name)}, nil
}

func (p *Pages) isAdmin(login string) bool {
	return login != "" && slices.ContainsFunc(p.config.Admins, func(a string) bool { return strings.EqualFold(a, login) })
}

// remote returns the address that a request came from; the zero address if it has none.
func remote(r *http.Request) netip.Addr {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return from.Addr().Unmap()
}
