// Package lookup knows which objects of a cluster charts can look up: which kinds have no objects that
// clusters make themselves, whether an object matches a query, and which of its fields are known.
package lookup
