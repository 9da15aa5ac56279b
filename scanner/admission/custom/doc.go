// Package custom serves custom resources as an API server does: with the schemas,
// defaults, pruning and conversion of their CustomResourceDefinition.
//
//   - compile.go: a Definition is a compiled CustomResourceDefinition.
//   - assumed.go: the definition of a kind that is known by name only.
//   - definition.go: decoding of objects, and conversion between versions.
//   - established.go: the status that the server's controllers set on a definition.
package custom
