// Package suite runs suites of admission requests against policies and compares the verdicts with
// the expected ones.
//
// A suite is a directory with
//
//   - requests.yaml: the requests, and paths of policies elsewhere;
//   - policies.yaml (optional): ValidatingAdmissionPolicies and bindings, created in
//     this order;
//   - context.yaml (optional): Namespaces, CustomResourceDefinitions, params and
//     RBAC objects that exist before the policies;
//   - expected.yaml (optional): the verdicts, recorded from an API server or written by
//     the author of a policy.
//
// Open and Load read a suite with internal/strictyaml; a mistake in a file is a *strictyaml.Error
// with line and column. Values are decoded as those that kubectl would send, and whole numbers stay
// integers (content.go).
//
// Run builds a cluster of context and policies, in which only these objects exist, and reviews each
// request independently (scanner/server). Test also compares the verdicts with expected.yaml
// (compare.go): only the fields that it states, unless the file is a record. Where a server chooses
// at random, Align first applies the recorded choice. For a verdict that differs, explain.go adds
// the decisions that led to it, with the values that their expressions read.
//
// Record writes the verdicts of a result as an expected.yaml.
package suite
