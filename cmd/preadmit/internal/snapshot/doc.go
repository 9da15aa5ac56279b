// Package snapshot reads the objects that decide about requests from a live cluster
// (Namespaces, CustomResourceDefinitions, policies, RBAC, classes) and writes them as one file
// for --context. It only lists objects. The file begins with a [Header], which has the time,
// the server, and the kinds of which the snapshot has all objects.
package snapshot
