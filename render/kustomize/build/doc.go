// Package build prepares kustomize's runs on a tree.
//
// Walk follows the kustomization files of a root and returns their closure: each entry with the file it leads
// to, the reason for a refusal, and how much work kustomize would do. UsesOf returns what the kustomizations
// of one directory use, for finding roots. FileSystem is the tree as kustomize sees it. Objects converts the
// objects that kustomize built.
package build
