// Package flux renders what Flux applies for a Kustomization object, as kustomize-controller
// makes it: the kustomization of a directory is generated or extended by what the object
// says, built by kustomize, variables are substituted in what comes out, and labels are
// set.
//
// The tree is not written to. A view shows the part of it that the source of a Kustomization
// holds (view.go, views.go); an overlay on the view has the generated kustomization file
// (generate.go), and package kustomize renders that with all its limits.
package flux
