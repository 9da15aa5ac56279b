package render

import "sync"

// memo remembers what was worked out about files, by their content: two trees that
// hold the same file share it. Safe for concurrent use.
type memo struct {
	// guarded holds guardVerdicts by identity.
	guarded sync.Map
	// kustomizations and manifests (as func() *manifestFile) remember where they
	// were written as well: fileKey -> what the file decodes to.
	kustomizations, manifests sync.Map
	// documents counts those of files by identity.
	documents sync.Map
}

// fileKey is a file at a path with a content.
type fileKey struct{ path, identity string }
