// Package lint checks admission policies and their bindings themselves: what the API server would
// refuse, what its type checker warns about, and what can never have its intended effect.
//
// Run renders a tree as a scan does (scanner.NewSurvey). For each cluster of the configuration it
// loads the policies and bindings (newCluster) and runs the rules on them. A rule has an
// identifier, severity and title, which reports contain, and a check. rules lists all of them. A
// check adds remarks, which name an object, fields of it and optionally a position inside an
// expression. Run then finds the line of each remark and returns the report, sorted and without
// repetitions.
//
// Refusals, type checks, matching and access to params are computed by the API server's own code,
// through scanner/admission and scanner/policy.
//
// If a root does not render, an object that is not found may be in that root. A remark that
// something is missing is then only a note (cluster.missing).
//
// To add a rule, add its identifier, severity and title to report.LintRules, its check to rules, a
// finding of it to testdata and a section to docs/lint.md. Tests compare the four.
package lint
