// Package admission is an API server without a cluster, up to the point where policies
// are evaluated: it knows the built-in kinds and those of CustomResourceDefinitions, and
// takes an object through what a kube-apiserver does to it before. All of it is
// Kubernetes' own code; this package assembles it.
//
//   - object.go, index.go, cluster.go: an Object is kept as JSON, an Index holds the
//     objects of one origin, a Cluster answers from several of them and says which kinds
//     it has all objects of.
//   - resources.go, crd.go: which kinds are served, by which names, with which schemas
//     (packages builtin, custom and openapi).
//   - handler.go, scale.go, allocate.go: how a kind is decoded, converted, defaulted,
//     prepared and validated (packages builtin, custom and services).
//   - prepare.go: the handling of one request in the order of a server's handlers:
//     decode (strict), default, convert, mutating plugins (plugins.go), the registry's
//     preparation and validation, validating plugins (validate.go). The result is a
//     Request, whose objects are converted once for each version that a policy matches.
//     Errors and lists that a server has in no order have one here (packages refusal and
//     listers).
//   - rbac.go: authorization, as far as the state has RBAC (package roles).
//   - exists.go, deletion.go, storage.go: what comes of the state. A Storage keeps it for several
//     requests about one object.
//   - metadata.go: what a server warns of when a Job is deleted.
//
// Requests are decided by package server, which is above this one.
package admission
