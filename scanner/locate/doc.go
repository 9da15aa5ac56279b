// Package locate finds the fields of an object that made a validation fail.
//
// An expression is parsed without expanding its macros and interpreted on the values that the API
// server evaluated it on. Each value has its provenance: its place in the object, and the fields to
// change for another value, the most relevant first. A false conjunction takes the fields of its
// false operands, all() those of the elements that fail, has() the absent field, a variable those
// of its expression. The fields of the whole expression's value are the result. Other functions -
// operators, conversions, the libraries of Kubernetes - are called in the API server's own
// environment, and their results depend on all arguments.
//
// Work is limited for each question: in steps, in the cost of function calls (in the units of the
// API server's cost budget) and in depth.
package locate
