// Package child is what runs in the jail of package jailed: it reads a job, scans, and
// sends messages and the report. Main is called after the process entered its jail; it
// bounds the stack, opens the commits in the repository of the job, loads the
// configuration of the base and calls the scanner. A root with an OpenAPI schema of its
// own is rendered in one more process, which is inside of the jail as well.
//
// Only this side of the jail links the scanner and Kubernetes.
package child
