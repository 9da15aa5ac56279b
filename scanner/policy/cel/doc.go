// Package cel is the API server's CEL environment, in which equal evaluations have equal results and
// the work of each is bounded.
//
//   - environment.go: loops iterate over maps in the order of their keys.
//   - limits.go, effort.go: the maximum work of a call is counted before the call; an
//     API server has no such limit.
//   - partialenv.go: the same environment for objects with unknown values.
//   - compilers.go: the API server's compilers of expressions, reused for many policies.
//   - uncounted.go, sizes.go: expressions whose cost need not be counted, since their
//     inputs are small.
package cel
