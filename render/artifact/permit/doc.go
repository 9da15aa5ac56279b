// Package permit decides what may be fetched to judge a change. Whoever opens a pull request
// writes what is requested, the lock included, so the lock and the list of what is allowed are
// those of the base.
package permit
