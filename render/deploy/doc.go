// Package deploy finds out what of a tree is deployed to which cluster, by whom.
//
// Package render finds directories that render to objects. Where a repository has a
// deployer, it is not the directories that are applied, but what objects in the cluster ask
// for: a Flux Kustomization names a directory and says how it is built. Such objects are in
// what other units render to, so the graph of units is expanded step by step, beginning with
// entry points: those that nothing in the repository applies but themselves.
package deploy
