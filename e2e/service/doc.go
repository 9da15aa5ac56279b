// Package service runs the built `preadmit serve` against real parts, on the loopback
// interface: a GitHub for tests whose repositories are served by git's own http-backend,
// embedded and clustered NATS, and a browser. `make service-test` builds the program and
// runs all of it.
//
// Tests that wait most of their time run side by side, after the others: each has a service and
// a GitHub of its own. Those that measure what a service takes run alone.
package service
