package webhooks

import "testing"

func TestNetwork(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.7":         "192.0.2.7",
		"::ffff:192.0.2.7":  "::ffff:192.0.2.7",
		"2001:db8:1:2:3::4": "2001:db8:1:2::/64",
		"2001:db8:1:2::9":   "2001:db8:1:2::/64",
		"fe80::1%eth0":      "fe80::/64",
		"not an address":    "not an address",
	} {
		if got := network(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}
