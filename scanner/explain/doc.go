// Package explain explains an API server's response to a request: which policies apply and why, and
// the value of each expression and of each of its parts.
//
//   - explain.go: one request, from the response to the policies.
//   - matching.go: constraints, selectors and params, each evaluated separately.
//   - tree.go: the recorded values of an expression, as the tree of its parts.
//   - value.go: values as text.
//   - mask.go, secrets.go, sealed.go: hide values that show the content of a Secret.
//
// Everything is bounded: the number of parts of an expression, their depth, the rounds of a loop
// and the length of values.
package explain
