// Package artifacts fetches for the service the artifacts that scans lack. A [Fetcher] is the
// jailed.Fetcher of a service.
//
// A scan's process only names what it lacks. The lock and the configuration of the base (package
// permit) decide what is fetched. They are read from the repository, not received from that
// process; everything else is not fetched.
//
// Contents are stored in one directory of limited size. A scan sees a directory of its own with
// the artifacts that it needs, not those of other repositories. An owner of repositories with
// credentials of their own has a store of their own, since a digest does not prove that somebody
// may read the content.
package artifacts
