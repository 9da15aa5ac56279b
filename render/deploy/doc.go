// Package deploy finds out which roots of a tree are deployed to which cluster, and by which deployer.
//
// Package render finds directories that render to objects. In a repository with a deployer, these directories are not
// applied as they are: objects in the cluster define what is applied. For example, a Flux Kustomization names a
// directory and how to build it. Other units render such objects, so the graph of units is expanded step by step. It
// begins with entry points: units that nothing in the repository applies but themselves.
package deploy
