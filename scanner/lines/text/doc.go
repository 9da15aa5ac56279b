// Package text works on the text of YAML files, line by line: it masks what Secrets hold,
// cuts snippets, hashes lines as GitHub's code scanning does, and finds the place in a
// scalar as it is written that belongs to a place in its value.
//
// What needs to know objects is in package lines. This package links nothing of Kubernetes,
// so its tests are quick.
package text
