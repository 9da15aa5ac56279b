// Package policy evaluates ValidatingAdmissionPolicies for admission requests with the
// semantics of the API server's own plugin
// (k8s.io/apiserver/pkg/admission/plugin/policy/validating).
//
//   - load.go: Load has policies and bindings checked as a server does at creation.
//   - compile.go: a Compiler compiles each policy once, in the API server's CEL
//     environment (package cel, where loops over maps have an order, and what has no
//     limit on a server ends the evaluation).
//   - candidates.go, match.go, params.go: which policies, bindings and params a request
//     has, by the server's own matcher.
//   - engine.go, evaluate.go, activation.go: an Engine evaluates match conditions,
//     variables, validations, messages and audit annotations within the server's cost
//     budgets. Unlike a server it returns everything that failed, not the first denial.
//   - conjunction.go: all validations of a policy in one expression, for the usual case
//     that all are true; its cost is not counted where it is certainly small.
//   - settled.go: which evaluations another process has found to have nothing to say (package settled).
//   - outcome.go, verdict.go: the decisions, and what a client would see of them.
//   - explain.go, secrets.go: what an expression read (package expressions), without what
//     Secrets hold.
//   - coverage.go: which requests a policy can match at all (what its types say is for
//     package typecheck).
//
// What cannot be known offline - a Namespace that nothing defines, RBAC that the state
// does not have - makes the outcome Indeterminate, and only if an expression reads it.
package policy
