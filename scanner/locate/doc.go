// Package locate finds out which fields of an object made a validation fail.
//
// An expression is parsed without expanding its macros and interpreted on the
// values the API server evaluated it on. Every value the interpreter makes carries
// its provenance: where in the object it lies, and the fields to change to make it
// another value, the most telling first. A conjunction that is false takes over the
// fields of what is false in it, all() those of the elements that fail, has() the
// field that is absent, a variable those of its expression. The fields of the whole
// expression's value are the answer. Functions without a meaning of their own here -
// operators, conversions, the libraries of Kubernetes - are called in the API
// server's own environment, and depend on their arguments.
//
// Work is bounded for each question: by steps, by the cost of the functions called
// (in the units of the API server's cost budget) and by depth.
package locate
