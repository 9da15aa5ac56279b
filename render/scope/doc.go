// Package scope reports which kinds of Kubernetes are in namespaces, and which kinds each version serves.
//
// What Helm and Argo CD make of a manifest without a namespace depends on it: they ask the API
// server, and put objects of namespaced kinds into the namespace of their release or destination.
// The table has the kinds that an API server serves, in any of their versions; kustomize's schema,
// which is older, knows some that are gone. Another table has custom kinds of projects that many
// clusters have.
package scope
