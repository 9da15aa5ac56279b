// Package unknown prepares objects some of whose fields have values that are not known.
//
// The code of an API server works on values, so it is given stand-ins: the object is
// prepared several times, each time with other values of the right types in the unknown
// fields (standins.go, types.go). What comes out differently depends on an unknown field
// and is unknown itself - a default taken from an image, a copy in another version, the
// labels of a generated Pod. Everything else is known. Merge (merge.go) puts the results
// together, with a Value in place of everything unknown; the policy engine evaluates
// expressions with these.
//
// An API server takes the values for valid: what it has to say against a stand-in is of
// no interest. See errors.go for what can be said of its other refusals.
package unknown
