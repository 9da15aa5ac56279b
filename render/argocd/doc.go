// Package argocd renders what Argo CD applies for an Application, as its repository server and
// application controller make it: overrides in the repository are merged into each source, which
// is a chart, a kustomization or a directory of manifests, and in what comes out lists are
// expanded, namespaces filled in, repeated objects dropped and marks of the Application set
// (reposerver/repository and controller of Argo CD 3.5).
//
// source.go prepares the sources and puts together what they make: charts (helm.go, valuefiles.go),
// kustomizations (kustomize.go, edit.go) and directories of manifests (directory.go, jsonnet.go). finish.go
// does what the controller does to all objects, and unrendered.go what is known of an Application that is not rendered. Package project has what AppProjects forbid.
//
// Where fields were written is in origins.go. Of a chart (helmorigins.go) package helm/locate finds the value that
// decides, and the options of the Application that set values say where that one is written.
//
// Nothing of the tree is written to: a kustomization with the options of an Application is one
// in an overlay on the tree (overlay.go), which package kustomize renders.
package argocd
