// Package child runs in the jail of package jailed: it reads a job, scans, and sends messages and
// the report. Main is called after the process entered its jail; it limits the stack, opens the
// commits in the repository of the job, loads the configuration of the base and calls the
// scanner. A root with an OpenAPI schema of its own is rendered in another process, which is in
// the jail as well.
//
// Of the service only this package links the scanner and Kubernetes.
package child
