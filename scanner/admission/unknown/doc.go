// Package unknown prepares objects with unknown fields.
//
// The code of an API server needs values, so it gets stand-ins: the object is prepared several times,
// each time with other values of the right types in the unknown fields (standins.go, types.go).
// Results that differ depend on an unknown field and are unknown themselves: a default derived from
// an image, a copy in another version, the labels of a generated Pod. Everything else is known. Merge
// (merge.go) combines the results, with a Value in place of everything unknown; the policy engine
// evaluates expressions with these.
//
// The values are taken to be valid: errors about a stand-in are ignored. errors.go decides which
// other refusals are certain.
package unknown
