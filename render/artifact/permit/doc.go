// Package permit decides what may be fetched to judge a change. The author of a pull request controls what it requests
// and its lock. So the lock and the list of allowed URLs are those of the base.
package permit
