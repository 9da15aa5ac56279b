// Package builtin has the kinds that a kube-apiserver serves without any CustomResourceDefinition.
//
//   - discovery.go: the kinds, from a server's own discovery (discovery.json).
//   - scheme.go, decode.go: decoding and defaulting of their objects.
//   - strategies.go: the fields that their registries set, drop and refuse.
//   - deprecation.go: the warnings of a server.
package builtin
