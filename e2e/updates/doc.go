// Package updates generates updates of objects: a manifest, and what a change made of it.
//
// An update begins with an example of a kind. The manifest before differs from it in few
// places, the one after differs from that in some more. Most of what comes is valid, and
// what is not is what people write: a field taken away or misspelled, a null, an empty list,
// an item twice or moved, a value of another type. One seed makes one update.
package updates
