// Package fetch is the only network client for artifacts. It resolves artifacts, fetches them, and
// stores them by digest.
//
// Pull requests choose the names, so none is trusted. All connections are made by one guarded
// dialer, which compares each resolved address with the ranges of private networks, also after
// redirects ([Options].Hosts names exceptions). Only HTTPS, and SSH for git, are used. Sizes, times,
// redirects and counts are limited. Credentials are those of [Options], and are sent only to the
// host they are for and never along a redirect; the configuration of git, Docker and Helm, and
// proxies in the environment, are ignored.
package fetch
