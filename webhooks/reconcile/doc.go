// Package reconcile finds what no delivery brought, or what one brought while the service was
// down.
//
// GitHub sends a delivery once. A service that was down, or could not store a delivery,
// never gets it again unless it asks; and a process that dies may leave a check run
// in progress that no job is about any more. So at start and every few minutes:
//
//   - deliveries of the last three days that failed are requested again, unless their job
//     was stored before the answer was lost. GitHub's own list of attempts is the memory:
//     it says how often each was tried, and with every try the next waits longer.
//   - open pull requests, drafts aside, that have no verdict and no job get a job. Our scan
//     records answer for nearly all. For the rest GitHub is asked for a completed check of
//     ours on the head, which says whose verdict it is: others may have the same head.
//   - check runs of scans that ended without a verdict are completed as cancelled if they
//     are still in progress, unless their commit is being judged once more. That GitHub was
//     asked is kept in the scan's record.
//
// Everything it does may be done twice without harm: a job says what to look at, and the
// worker looks how it is. One replica reconciles at a time; another takes over when it is
// gone. An installation is asked only while half of its hourly requests are left, for scans
// need them more, but for one question of a kind; where a pass stops, the next goes on.
package reconcile
