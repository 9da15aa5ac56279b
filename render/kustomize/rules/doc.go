// Package rules finds the line that wrote a field of an object that kustomize built.
//
// Locate builds the root once more from files in which every YAML document is moved to a range of lines of its
// own (package padding). A node that kustomize keeps still has its line, which leads to the document and the
// place in it. Where kustomize writes new nodes, a rule finds the entry of a kustomization that sets the
// value: images, replicas, labels, names, generators, replacements, patches. A JSON6902 patch makes kustomize
// parse an object again, so that all its nodes lose their lines: such a root is built again without the patch
// (rebuild.go), and the operations are followed backwards (jsonpatch.go).
//
// The chain of a field is its value in the object's own document and everything that wrote it later. It is
// found by following the only route that the object can have taken (route.go) and applying each
// kustomization's changes to the value, in kustomize's order (replay.go, replayset.go, replaypatch.go). It is
// reported only when it ends with the value and the line that the object has.
package rules
