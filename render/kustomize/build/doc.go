// Package build has what runs kustomize on a tree.
//
// Walk follows the kustomization files of a root and returns their closure: each entry with
// the file it leads to, what must be refused, and how much kustomize would do. UsesOf
// returns what the kustomizations of one directory use, for finding roots. FileSystem is the
// tree as kustomize sees it. Objects converts what kustomize built.
package build
