// Package schemas keeps the OpenAPI schemas of CustomResourceDefinitions out of kustomize's builds.
//
// Kustomize copies a document once for each level of its depth while it reads it (kyaml's RNode.DeAnchor), and
// most of the manifests of many repositories are schemas, which no kustomization changes. A [Build] replaces
// each schema of a resource file with a mark, and puts the schema into the object with the mark afterwards.
//
// The result must equal that of building the whole files. These are built where a mark is not found exactly
// once, where kustomize fails, and where the kustomization may read or write fields of a schema without
// either. Only schemas that kustomize does not change get a mark: no comments, nulls, anchors, folded texts or
// numbers that a conversion to JSON could change.
package schemas
