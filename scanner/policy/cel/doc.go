// Package cel is the API server's CEL environment, in which equal evaluations give equal answers
// and none goes on without end.
//
//   - environment.go: loops go through maps in the order of their keys.
//   - limits.go, effort.go: what a call may do at most is counted before it is made; an
//     API server has no limit there.
//   - partialenv.go: the same environment for objects with unknown values.
//   - compilers.go: the API server's compilers of expressions, each used for many policies.
//   - uncounted.go, sizes.go: expressions whose cost need not be counted, as what they read is small.
package cel
