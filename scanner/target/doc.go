// Package target holds the clusters that roots are deployed to: what a cluster has before
// and after a change, and which requests the change makes.
//
// Build makes the Targets of a configuration, or one of all roots. A Target has a State
// at base and one at head. A root sees its own objects first, then those of other roots,
// then what was given beside the roots; where roots define an object that governs others
// differently, each version counts (State.Visible). Which kinds govern others is in the
// table of package kinds.
//
// Servers makes the API servers that decide a root's requests: one with the policies in
// force, one with the proposed ones, and one of the base alone. Reach says what a change
// of governing objects means for objects that did not change. PairObjects and Moves turn
// the objects of a root into pairs, each of which is one request.
package target
