// Package playground is a page to try policies on: policies and bindings, an object and the state of
// the cluster are given as YAML, and the page says what the API server answers, and what each part
// of each expression evaluates to.
//
// The page works without a script, by a button; with one it answers as one types. What is typed is
// judged by Processes, which are jailed and bounded, and end with what goes on too long; a client
// may ask only so often. Nothing is kept: a link carries all fields in its fragment, which browsers
// send nobody.
package playground
