// Package expressions answers questions about a CEL expression as it is written: what it reads,
// what it may cost at most, whether it is a constant.
package expressions
