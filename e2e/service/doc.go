// Package service runs the built `preadmit serve` with real components on the loopback
// interface: a fake GitHub whose repositories are served by git's own http-backend, embedded
// and clustered NATS, and a browser. `make service-test` builds the program and runs all
// tests.
//
// Tests that mostly wait run in parallel, after the others; each has its own service and
// GitHub. Tests that measure the resources of a service run alone.
package service
