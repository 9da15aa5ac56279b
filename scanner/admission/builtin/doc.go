// Package builtin knows the kinds that a kube-apiserver serves without any
// CustomResourceDefinition.
//
//   - discovery.go: which there are, from a server's own discovery (discovery.json).
//   - scheme.go, decode.go: how their objects are decoded and defaulted.
//   - strategies.go: what their registries set, drop and refuse.
//   - deprecation.go: what a server warns of.
package builtin
