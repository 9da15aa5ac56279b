// Package flux renders what Flux applies for a Kustomization object, as kustomize-controller does: the kustomization of
// a directory is generated, or extended by the fields of the object, and built by kustomize. Then variables are
// substituted in the objects, and labels are set.
//
// The tree is not written to. A view is the part of the tree that the source of a Kustomization contains (view.go,
// views.go). An overlay on the view has the generated kustomization file (generate.go), which package kustomize renders
// within its limits.
package flux
