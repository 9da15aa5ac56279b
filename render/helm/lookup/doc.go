// Package lookup knows what charts can be told of the objects of a cluster: which kinds hold nothing
// that clusters make themselves, whether an object is one that a chart looks up, and what of it is known.
package lookup
