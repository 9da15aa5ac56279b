// Package isolate runs work on a tree in a separate process: work that changes global variables, and work that can only
// be bounded by ending its process.
//
// The program is the caller's own, started again. The child has no environment, none of the user's arguments, and no
// access to files except through its parent, with a protocol of JSON lines: the parent sends one job, the child sends
// requests and reads an answer to each, and its last request contains the result.
package isolate
