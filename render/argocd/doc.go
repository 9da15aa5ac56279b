// Package argocd renders what Argo CD applies for an Application, as its repository server and application controller
// do (reposerver/repository and controller of Argo CD 3.5). Overrides in the repository are merged into each source,
// which is a chart, a kustomization or a directory of manifests. In the rendered objects, lists are expanded,
// namespaces are set, repeated objects are dropped, and labels and annotations of the Application are added.
//
// source.go prepares the sources and combines their objects: charts (helm.go, valuefiles.go), kustomizations
// (kustomize.go, edit.go) and directories of manifests (directory.go, jsonnet.go). finish.go does what the controller
// does to all objects. unrendered.go traces the files of an Application that is not rendered. Package project evaluates
// AppProjects.
//
// origins.go finds where fields were written. For a chart (helmorigins.go), package helm/locate finds the value that
// decides, and the options of the Application that set values have the place of that value.
//
// Nothing is written to the tree: a kustomization with the options of an Application is in an overlay on the tree
// (overlay.go), which package kustomize renders.
package argocd
