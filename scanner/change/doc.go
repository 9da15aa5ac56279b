// Package change holds the two trees of a change and what was rendered of them.
//
// Open finds the roots of both trees. A Side is one tree: its files, its roots, and the objects of
// the roots that were rendered (Rendered). Package plan decides which roots are rendered. The
// methods of Change answer questions about both sides: which roots are judged (Selected), which are
// gone (Gone), which objects differ (ChangedObjects).
//
// Every object of a cluster state has an Origin: the side and the root that it was rendered from,
// and its index in the root's result. Objects given in addition to the trees come from a separate
// Side, which is marked Extra.
package change
