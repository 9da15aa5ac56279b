// Package sandbox loads the state of a repository into a real API server, and compares its answers
// against those of a scan.
//
// The server is a program of its own, preadmit-sandbox (package internal/apiserver): this package
// starts it, talks to it over HTTP as deployers do, and ends it. Loading goes in an order in which
// each object finds what decides about it (Loader): definitions, Namespaces, what else decides,
// policies, and, once those are in force, the rest.
package sandbox
