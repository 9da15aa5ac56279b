package fetch

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"
)

// dialer makes all connections.
type dialer struct {
	// hosts may have any address: names, or names with a port.
	hosts    []string
	resolver *net.Resolver
}

// dialTime is the timeout for resolving and connecting.
const dialTime = 15 * time.Second

// dial connects to an address of a host. Each address is checked after it was resolved, immediately
// before the connection.
func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	under := net.Dialer{Timeout: dialTime, Resolver: d.resolver}
	if !d.allowed(address) {
		under.Control = func(_, address string, _ syscall.RawConn) error { return checkAddress(host, address) }
	}
	return under.DialContext(ctx, network, address)
}

// allowed reports whether a host, with its port, may have any address.
func (d *dialer) allowed(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	return slices.ContainsFunc(d.hosts, func(name string) bool {
		return strings.EqualFold(name, host) || strings.EqualFold(name, address)
	})
}

// checkAddress returns an error for an address to which no connection is made.
func checkAddress(host, address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%s is at %q, which is no address", host, address)
	}
	if is := forbidden(at.Addr()); is != "" {
		return &AddressError{Host: host, Address: at.Addr(), Is: is}
	}
	return nil
}
