// Package text processes the text of YAML files line by line: it masks content of Secrets, cuts
// snippets, hashes lines as GitHub's code scanning does, and maps places in the value of a scalar
// to places in its text.
//
// Functions that need objects are in package lines. This package does not link Kubernetes, so its
// tests build quickly.
package text
