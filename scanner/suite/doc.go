// Package suite runs suites of admission requests through policies, and compares the
// answers with the expected ones.
//
// A suite is a directory with
//
//   - requests.yaml: the requests, and paths of policies elsewhere;
//   - policies.yaml (optional): ValidatingAdmissionPolicies and bindings, created in
//     this order;
//   - context.yaml (optional): Namespaces, CustomResourceDefinitions, params and
//     RBAC objects that exist before the policies;
//   - expected.yaml (optional): the answers, recorded from an API server or written by
//     the author of a policy.
//
// Open and Load read a suite with internal/strictyaml; a mistake in a file is a
// *strictyaml.Error with line and column. The values are those that kubectl would send,
// and whole numbers stay whole (content.go).
//
// Run builds a cluster of context and policies, in which everything that is not found
// does not exist, and reviews each request by itself (scanner/server). Test also
// compares the answers with expected.yaml (compare.go): only the fields that are written
// there, unless the file is a record. Where a server chooses at random, Align first
// chooses what is recorded. For an answer that differs, explain.go adds the decisions
// that led to it, with the values that their expressions read.
//
// Record writes the answers of a result as an expected.yaml.
package suite
