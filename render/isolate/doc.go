// Package isolate does work on a tree in a process of its own: what keeps state in variables of the
// process, and what can be bounded only by ending the process that does it.
//
// The program is the caller's own, started again. The child has no environment, no arguments of
// the user's, and no access to files but what it asks its parent for, over a protocol of JSON
// lines: the parent sends one job, the child sends questions and reads an answer to each, and
// ends with a question that holds the result.
package isolate
