// Package admission is an API server without a cluster, up to the evaluation of policies: it serves
// the built-in kinds and those of CustomResourceDefinitions, and processes a request as a
// kube-apiserver does before that. All of it is Kubernetes' own code; this package assembles it.
//
//   - object.go, index.go, cluster.go: an Object is kept as JSON, an Index holds the
//     objects of one origin, a Cluster looks them up in several of these and reports the
//     kinds of which it has all objects.
//   - resources.go, crd.go: the served kinds, with names and schemas (packages builtin,
//     custom and openapi).
//   - handler.go, scale.go, allocate.go: how objects of a kind are decoded, converted,
//     defaulted, prepared and validated (packages builtin, custom and services).
//   - prepare.go: the handling of one request in the order of a server's handlers:
//     decode (strict), default, convert, mutating plugins (plugins.go), the registry's
//     preparation and validation, validating plugins (validate.go). The result is a
//     Request, whose objects are converted once for each version that a policy matches.
//     Errors and lists that a server returns in no fixed order are sorted (packages refusal
//     and listers).
//   - rbac.go: authorization, as far as the state has RBAC (package roles).
//   - exists.go, deletion.go, storage.go: what depends on stored objects. A Storage keeps
//     one for several requests about it.
//   - metadata.go: the server's warning when a Job is deleted.
//
// Requests are decided by package server, which is above this one.
package admission
