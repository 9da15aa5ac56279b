// Package proof proves that a line wrote a field by changing the line: the root is rendered again from a tree
// with the change, and the field must have changed accordingly. A Prover checks claims about one root with a
// limited number of renders.
package proof
