// Package change holds the two trees of a change and what was rendered of them.
//
// Open finds the roots of both trees. A Side is one tree: its files, its roots, and, as
// far as they were rendered, their objects (Rendered). Package plan decides which roots
// are rendered. A Change answers what follows from both sides: which roots are judged
// (Selected), which are gone (Gone), which objects differ (ChangedObjects).
//
// Every object of a cluster's state remembers its Origin: the side and the root that it
// was rendered from, and its place in what the root renders to. Objects that are given
// beside the trees come from a Side of their own, which is marked Extra.
package change
