// Package reconcile finds events whose delivery did not arrive, and work that was interrupted.
//
// GitHub sends a delivery once. A service that was down, or could not store a delivery,
// never receives it again unless it requests that; and a process that dies may leave a check run
// in progress that has no job any more. So at start and every few minutes:
//
//   - deliveries of the last three days that failed are requested again, unless their job
//     was stored before the response was lost. GitHub's own list of attempts has the number
//     of attempts of each, and the wait doubles with each attempt.
//   - open pull requests, except drafts, without a verdict and without a job get a job. The scan
//     records are sufficient for nearly all. For the rest, completed check runs of ours on the
//     head are requested from GitHub. They name their pull request: others may have the same head.
//   - check runs of scans that ended without a verdict are completed as cancelled if they
//     are still in progress, unless their commit is being judged again. The scan's record notes
//     that this was checked.
//
// Every step may be repeated without harm: a job only names what to look up, and the worker reads
// the current state. One replica reconciles at a time; another takes over when it is gone. Requests
// for an installation are sent only while half of its hourly requests are left, since scans
// need them more, except for one request of each kind; the next pass continues where one stops.
package reconcile
