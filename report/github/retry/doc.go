// Package retry repeats requests to GitHub's API: it waits for rate limits, asks again after
// failures, and bounds each request in time and size. It does not look at what a request is about.
package retry
