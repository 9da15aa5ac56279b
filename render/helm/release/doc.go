// Package release renders the objects that installing or upgrading a release of a chart applies: the objects
// of the templates, hooks separately, and the definitions in crds/.
//
// It does what Helm 4 does with a post-renderer, as Flux always has one: the output of all templates is split
// into documents, each of which is parsed, processed by kustomize and the transformers of labels, and then
// sorted into hooks and manifests (documents.go, postrender.go, sort.go). Documents keep an annotation
// meanwhile, which shows the output that each object was made of.
//
// Documents that kustomize would not change skip it (direct.go). With Release.Template, as Argo CD and
// kustomize run Helm, all do: objects are those that `helm template` prints (printed.go).
//
// Random parts are found by rendering again with other random results: the fields that differ are unknown
// (chance.go).
package release
