// Package render finds the roots of a tree of files and renders each to Kubernetes objects.
//
// A tree is an fs.FS: a git commit, a work tree or a directory (package tree). A root is a part of it that renders to
// objects: a kustomization that nothing else uses, a directory of plain manifests, or what an object in a cluster makes
// a deployer apply. A Source renders the roots of one kind; package sources has the list of sources.
//
// A Renderer is a tree with its sources:
//
//	Discover  lists the directories, reads what their root files use, and returns the roots
//	          that nothing else uses, with the Gaps: what a cluster may be given although it
//	          is in no root.
//	Needs     returns what a root may read, the words that its objects may hold, and the
//	          Artifacts it needs from outside the repository, without rendering it.
//	Render    returns the objects of a root, or the Problem that prevents it, with a
//	          Trace of everything that was read.
//	Origins   returns where each object and its fields were written (package origin).
//
// Work is not repeated. A Renderer made with Beside reuses the results for directories that both trees have
// (shared.go), and a Cache stores those, and results, for later processes (cache.go, treecache.go). Both are keyed by
// git's names of contents, so they need no invalidation.
package render
