// Package service runs the built `preadmit serve` against real parts, on the loopback
// interface: a GitHub for tests whose repositories are served by git's own http-backend,
// embedded and clustered NATS, and a browser. `make service-test` builds the program and
// runs all of it.
package service
