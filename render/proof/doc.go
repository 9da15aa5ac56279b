// Package proof shows that a line wrote a field by changing the line: the root is rendered
// again from a tree with the change, and the field must have changed with it. A Prover
// checks claims about one root, with as many renders as it is given.
package proof
