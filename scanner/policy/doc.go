// Package policy evaluates ValidatingAdmissionPolicies for admission requests with the
// semantics of the API server's own plugin
// (k8s.io/apiserver/pkg/admission/plugin/policy/validating).
//
//   - load.go: Load checks policies and bindings as a server does at creation.
//   - compile.go: a Compiler compiles each policy once, in the API server's CEL
//     environment (package cel, where loops over maps have an order, and work that no
//     cost limit of a server bounds ends the evaluation).
//   - candidates.go, match.go, params.go: the policies, bindings and params that apply to
//     a request, by the server's own matcher.
//   - engine.go, evaluate.go, activation.go: an Engine evaluates match conditions,
//     variables, validations, messages and audit annotations within the server's cost
//     budgets. Unlike a server it returns every failure, not the first denial.
//   - conjunction.go: all validations of a policy in one expression, for the usual case
//     that all are true; its cost is not counted if it is certain to be small.
//   - settled.go: the evaluations that had no finding in another process (package settled).
//   - outcome.go, verdict.go: the decisions, and the response to a client.
//   - explain.go, secrets.go: the values that an expression read (package expressions),
//     without the contents of Secrets.
//   - coverage.go: the requests that a policy can match at all (type checks are in
//     package typecheck).
//
// An outcome is Indeterminate if an expression reads something that is not known offline: a Namespace
// that is not in the state, RBAC objects that the state lacks.
package policy
