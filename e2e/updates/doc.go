// Package updates generates updates of objects: a manifest before and after a change.
//
// An update starts from an example of a kind. The manifest before the change differs from the
// example in a few places, and the manifest after the change differs in some more. Most are
// valid. The others have typical mistakes: a missing or misspelled field, a null, an empty
// list, a repeated or moved item, a value of another type. The same seed gives the same
// update.
package updates
