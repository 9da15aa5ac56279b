// Package explain says how an API server comes to its answer to a request: which of the policies
// apply and what decides that, and the value of each expression, and of each part of it.
//
//   - explain.go: one request, from the answer to the policies.
//   - matching.go: constraints, selectors and params, each by itself.
//   - tree.go: what was recorded of an expression, as the tree of its parts.
//   - value.go: values as text.
//   - mask.go, secrets.go, sealed.go: what shows the content of a Secret is left out.
//
// Everything is bounded: the parts of an expression, their depth, the rounds of a loop and the
// length of values.
package explain
