package render

import "io/fs"

// NewRenderer makes a renderer for a tree. The tree must not change.
func NewRenderer(fsys fs.FS, opts Options) *Renderer {
	return newRenderer(fsys, opts, newKustomizeSource, newPlainSource)
}
