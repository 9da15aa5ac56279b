// Package custom serves custom resources as an API server does: with the schemas,
// defaults, pruning and conversion of their CustomResourceDefinition.
//
//   - compile.go: a Definition is a CustomResourceDefinition made ready to serve.
//   - assumed.go: the definition of a kind that is known by name only.
//   - definition.go: what happens to an object on arrival, and between versions.
//   - established.go: the status that the server's controllers give a definition.
package custom
