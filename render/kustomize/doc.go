// Package kustomize is the source of kustomizations.
//
// Kustomize runs in process, unmodified, on a read-only file system over the tree. Package
// build follows the kustomization files first and refuses whatever could reach a network,
// run a program or exhaust memory. A root with an `openapi:` field is rendered in a process
// of its own (Isolate), since kustomize keeps such a schema in variables of the process. What
// it notes of its work and nobody reads is left out (transformations.go).
//
// Needs and Parts follow from the same closure of files. Errors of kustomize become problems
// at a line (explain.go). Which line wrote a field is found by package rules.
package kustomize
