// Package snapshot reads from a live cluster what judges requests - Namespaces,
// CustomResourceDefinitions, policies, RBAC, classes - and writes it as one file for --context.
// It lists and never writes. The file begins with a [Header], which says when it was taken, of
// which server, and which kinds are whole.
package snapshot
