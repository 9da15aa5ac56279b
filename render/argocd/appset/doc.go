// Package appset evaluates ApplicationSets of Argo CD to the Applications that they generate, as their controller does
// (applicationset/generators and controllers/template of Argo CD 3.5): generators return sets of parameters, and the
// template is rendered with each of them.
//
// Lists and files of git repositories are read from the tree. Clusters, pull requests and the like must be given by the
// caller; otherwise the ApplicationSet is refused because its Applications are not known.
package appset
