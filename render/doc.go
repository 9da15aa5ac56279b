// Package render finds the roots of a tree of files and turns each into the Kubernetes
// objects it stands for.
//
// A tree is an fs.FS: a git commit, a work tree or a directory (package tree). A root is a
// part of it that renders to objects: today a kustomization that nothing else uses, or a
// directory of plain manifests. A Source makes the objects of one kind of root; package
// sources has the list of them.
//
// A Renderer is the tree with its sources:
//
//	Discover  lists the directories, asks the sources what their root files use, and
//	          returns the roots that nothing else uses, with the Gaps: what a cluster may
//	          be given although it is in no root.
//	Needs     returns what a root may read, whether some word can be in its objects, and
//	          the Artifacts it wants from outside the repository, without rendering it.
//	Render    returns the objects of a root, or the Problem why there are none, with a
//	          Trace of everything that was read.
//	Origins   returns where each object and its fields were written (package origin).
//
// Nothing is found out twice. A Renderer made Beside another takes over what follows from
// directories that both trees have (shared.go), and a Cache keeps that, and results, from
// one process to the next (cache.go, treecache.go). Both are keyed by git's names of
// contents, so they need no invalidation.
package render
