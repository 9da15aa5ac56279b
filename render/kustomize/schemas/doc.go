// Package schemas keeps the OpenAPI schemas of CustomResourceDefinitions out of what kustomize builds.
//
// Kustomize copies a document once for each level of its depth while it reads it (kyaml's
// RNode.DeAnchor), and most of the manifests of many repositories are schemas, which no
// kustomization changes. A [Build] serves kustomize a mark in the place of each schema of a
// resource file, and puts the schema into the object that has the mark afterwards.
//
// The build of the whole files is what counts. It is made where a mark is not found exactly
// once, where kustomize fails, and where the kustomization may read or write fields of a schema
// without either. Only schemas that survive kustomize as they are get a mark: no comments,
// nulls, anchors, folded texts or numbers that a conversion to JSON could change.
package schemas
