// Package release renders what installing or upgrading a release of a chart applies: the
// objects of the templates, hooks apart, and the definitions in crds/.
//
// It goes the way of Helm 4 with a post-renderer, as Flux has one always: the output of all
// templates is split into documents, each of which is parsed, passes kustomize and
// the transformers of labels, and is sorted into hooks and manifests after that (documents.go,
// postrender.go, sort.go). Documents keep a mark on that way, so that of each object
// the output that it was made of is known.
//
// Documents that kustomize would not change do not pass it (direct.go). With Release.Template, as Argo CD
// and kustomize run Helm, none does: objects are those that `helm template` prints (printed.go).
//
// What came of chance is found by rendering again with another outcome: the fields that differ are
// unknown (chance.go).
package release
