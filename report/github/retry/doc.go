// Package retry repeats requests to GitHub's API: it waits for rate limits, retries after
// failures, and bounds each request in time and size. It does not depend on the kind of request.
package retry
