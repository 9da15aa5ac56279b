package fetch

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
)

// AddressError is the error for a connection that was not made, since its address is not public.
type AddressError struct {
	Host    string
	Address netip.Addr
	// Is describes the address in a few words.
	Is string
}

func (e *AddressError) Error() string {
	return fmt.Sprintf("%s is at %s, %s, which is not connected to: if it may be, allow the host by its name", e.Host, e.Address, e.Is)
}

// special is a range of addresses that are not public.
type special struct {
	prefix netip.Prefix
	is     string
}

// specials returns the ranges of the IANA registries of special-purpose addresses that are not
// globally reachable, and others that may map to such addresses.
var specials = sync.OnceValue(func() []special {
	var all []special
	for _, s := range [...]struct{ is, prefixes string }{
		{"an address of this host", "0.0.0.0/8 127.0.0.0/8 ::/128 ::1/128"},
		{"a private address", "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7 fec0::/10"},
		{"a shared address (CGNAT)", "100.64.0.0/10"},
		{"a link-local address", "169.254.0.0/16 fe80::/10"},
		{"a metadata service", "168.63.129.16/32"},
		{"a multicast address", "224.0.0.0/4 ff00::/8"},
		{"a reserved address", "192.0.0.0/24 240.0.0.0/4 100::/64 2001::/23 5f00::/16 4000::/2 8000::/1"},
		{"an address of documentation", "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20"},
		{"an address of benchmarks", "198.18.0.0/15"},
		{"an IPv4 address in another form", "::/96 ::ffff:0:0/96 ::ffff:0:0:0/96 64:ff9b::/96 64:ff9b:1::/48 2002::/16 192.88.99.0/24"},
		{"a Teredo address", "2001::/32"},
	} {
		all = append(all, ranges(s.is, s.prefixes)...)
	}
	return all
})

// ranges returns the prefixes in a list.
func ranges(is, prefixes string) (all []special) {
	for prefix := range strings.FieldsSeq(prefixes) {
		all = append(all, special{netip.MustParsePrefix(prefix), is})
	}
	return all
}

// forbidden describes an address to which no connection is made; it returns "" for a public one.
func forbidden(a netip.Addr) string {
	if !a.IsValid() || a.Zone() != "" {
		return "an address of one network"
	}
	best := special{}
	for _, s := range specials() {
		if s.prefix.Contains(a) && (best.is == "" || s.prefix.Bits() > best.prefix.Bits()) {
			best = s
		}
	}
	if best.is == "" && a.Is6() && !global().Contains(a) {
		return "an address that is not assigned"
	}
	return best.is
}

// global is the range of global unicast addresses of IPv6.
func global() netip.Prefix { return netip.MustParsePrefix("2000::/3") }
