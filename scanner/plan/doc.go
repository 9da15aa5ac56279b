// Package plan decides which roots of a change are rendered.
//
// It is known without rendering which files a root may read (render.Needs). If these are equal in
// both trees, the root renders to the same objects, and the change does not touch it. Plan.Render
// renders
//
//  1. the roots that the change touches,
//  2. the configured paths of policies and context, and
//  3. other roots that may hold a dependency: an object that an API server reads to judge
//     the objects rendered so far (dependencies.go). This searches the text of files without
//     parsing them, and is repeated until nothing new is needed.
//
// Without a base everything is new, and everything is rendered. A test compares the result with
// that of rendering everything.
package plan
