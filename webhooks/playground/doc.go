// Package playground is a page for trying policies: policies and bindings, an object and the state of
// the cluster are given as YAML, and the page shows the API server's answer, and the value of each
// part of each expression.
//
// The page works without a script, by a button; with a script it updates while the user types.
// Processes judges the input in jailed processes with limits, which are killed when they take too
// long; the number of requests of a client is limited. Nothing is stored: a link has all fields in
// its fragment, which browsers do not send.
package playground
