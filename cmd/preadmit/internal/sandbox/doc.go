// Package sandbox loads the state of a repository into a real API server, and compares its answers
// against those of a scan.
//
// The server is a separate program, preadmit-sandbox (package internal/apiserver): this package
// starts it, sends requests over HTTP as deployers do, and ends it. A Loader loads objects after
// those that decide about them: definitions, Namespaces, other objects that decide, policies, and,
// once those are in force, the rest.
package sandbox
