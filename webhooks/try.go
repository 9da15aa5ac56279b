package webhooks

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/preadmit/preadmit/webhooks/pages"
	"github.com/preadmit/preadmit/webhooks/playground"
)

// playgroundPublic is the value of playground.access that enables the playground.
const playgroundPublic = "public"

// tryPolicies adds the playground, if it is enabled.
func (s *Service) tryPolicies(r chi.Router) error {
	c := s.config.Playground
	if c.Access != playgroundPublic {
		return nil
	}
	if s.judge == nil {
		s.judge = &playground.Processes{
			Program: s.options.Program, Args: s.options.PlaygroundArgs, Count: c.Processes, Memory: int64(c.Memory),
			BestEffort: s.config.Scan.Jail == jailBestEffort, Log: s.log.With("part", "playground"),
		}
	}
	page, err := playground.New(playground.Config{
		Judge: s.judge, Home: "/", Style: pages.Stylesheet(), Version: s.options.Version, Versions: s.options.PlaygroundVersions, Client: s.client(), Log: s.log.With("part", "playground"),
	})
	if err != nil {
		return fmt.Errorf("playground: %w", err)
	}
	s.private(r, func(r chi.Router) {
		r.Handle(playground.Path, page.Handler())
		r.Handle(playground.Path+"/*", page.Handler())
	})
	return nil
}

// client returns a function that identifies the client of a request: by its address, or the one that
// a trusted proxy reports. An IPv6 address is reduced to the network of one customer.
func (s *Service) client() func(*http.Request) string {
	var trusted []netip.Prefix
	for _, cidr := range s.config.Pages.TrustedProxies {
		trusted = append(trusted, netip.MustParsePrefix(cidr)) // ReadConfig parsed it
	}
	isTrusted := func(text string) bool {
		address, err := netip.ParseAddr(text)
		return err == nil && slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(address.Unmap()) })
	}
	return func(r *http.Request) string {
		host, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil || !isTrusted(host) {
			return network(host)
		}
		hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
		for i := len(hops) - 1; i >= 0; i-- {
			hop := strings.TrimSpace(hops[i])
			if address, err := netip.ParseAddrPort(hop); err == nil {
				hop = address.Addr().String()
			}
			if hop != "" && !isTrusted(hop) {
				return network(hop)
			}
		}
		return network(host)
	}
}

// network returns an IPv4 address unchanged, and the /64 of an IPv6 address.
func network(text string) string {
	address, err := netip.ParseAddr(text)
	if err != nil || address.Unmap().Is4() {
		return text
	}
	prefix, err := address.WithZone("").Prefix(64)
	if err != nil {
		return text
	}
	return prefix.String()
}
