// Package kustomize implements the source of kustomizations.
//
// Kustomize runs in process, unmodified, on a read-only file system over the tree. Package build follows the
// kustomization files first and refuses whatever could reach a network, run a program or exhaust memory. A
// root with an `openapi:` field is rendered in a process of its own (Isolate), since kustomize keeps such a
// schema in variables of the process. Kustomize's records of transformations are omitted where nobody reads
// them (transformations.go).
//
// Needs and Parts use the same closure of files. Errors of kustomize become problems at a line (explain.go).
// Package rules finds the line that wrote a field.
package kustomize
