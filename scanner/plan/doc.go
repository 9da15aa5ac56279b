// Package plan decides which roots of a change are rendered.
//
// What a root may read is known without rendering it (render.Needs). A root that both
// trees answer alike renders to the same, and is not touched by the change. Plan.Render
// renders
//
//  1. the roots that the change touches,
//  2. what the configuration takes policies and context from, and
//  3. of the other roots those that may hold a dependency: an object that an API server
//     looks at to judge the objects rendered so far (dependencies.go). Files are searched
//     for words, not parsed. This is repeated until nothing new is needed.
//
// Without a base everything is new, and everything is rendered. A test compares with
// rendering everything.
package plan
