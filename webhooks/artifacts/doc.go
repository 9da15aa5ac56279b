// Package artifacts fetches for the service what scans lack of what lies outside of their
// repositories. A [Fetcher] is the jailed.Fetcher of a service.
//
// A scan's process only names what it lacks. What of it is fetched is decided here, by the lock
// and the configuration of the base (package permit), which are read from the repository and
// not taken from that process: what neither has is not fetched.
//
// Contents are kept in one directory, bounded by its size. A scan sees a directory of its own
// with what it asked for: what was fetched for another repository is none of its business. An
// owner of repositories with credentials of their own has a store of their own, since a digest
// is no proof that somebody may read the content.
package artifacts
