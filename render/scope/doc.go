// Package scope reports which kinds of Kubernetes are namespaced, and which kinds each version serves.
//
// Helm and Argo CD ask the API server whether a kind is namespaced, and put objects without a namespace into that of
// their release or destination. One table has the kinds that an API server serves, in any of their versions; for
// removed kinds, kustomize's older schema is used. Another table has cluster-scoped custom kinds of widely used
// projects.
package scope
