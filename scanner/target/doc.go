// Package target holds the clusters that roots are deployed to: the objects of a cluster before and
// after a change, and the requests that the change makes.
//
// Build makes the Targets of a configuration, or one of all roots. A Target has a State at base and
// one at head. A root sees its own objects first, then those of other roots, then those given beside
// the roots. If roots define an object that governs others differently, each version counts
// (State.Visible). The table of package kinds lists the kinds that govern others.
//
// Servers makes the API servers that decide a root's requests: one with the policies in force, one
// with the proposed ones, and one of the base alone. Reach describes the effect of changed governing
// objects on objects that did not change. PairObjects and Moves turn the objects of a root into
// pairs, each of which is one request.
package target
