// Package apply has the requests that tools send to apply a manifest, and their results in an API
// server.
//
// An Applier is a tool: its field manager, whether it uses server-side apply or merges itself, and how it
// changes a manifest first. Server-side apply is Kubernetes' own code
// (k8s.io/apimachinery/pkg/util/managedfields) with the types that a server has (Types); the three-way merge
// of kubectl is apimachinery's, too (Merge). A tool that is the only manager of an object and applies all
// its fields again needs no managed fields (Applied).
//
// Manifests are decoded JSON; package admission provides the stored object, and passes the result
// through defaulting, admission and validation.
package apply
