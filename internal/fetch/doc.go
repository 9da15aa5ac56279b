// Package fetch is the only client of the network for artifacts. It resolves what is requested,
// gets it, and puts it into a store, by digest.
//
// It goes by the names that pull requests give it, so it trusts none. All connections are made
// by one guarded dialer, which compares each address with those of private networks after it
// was looked up, redirects included ([Options].Hosts names exceptions). Only HTTPS is spoken.
// Sizes, times, redirects and counts are bounded. Credentials are those of [Options], sent to
// the host they are for and never along a redirect; the configuration of git, Docker and Helm is
// not read, and nor are proxies of the environment.
package fetch
