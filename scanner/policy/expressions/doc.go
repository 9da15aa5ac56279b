// Package expressions analyses the syntax of a CEL expression: the values that it reads, its maximum
// cost, whether it is a constant.
package expressions
