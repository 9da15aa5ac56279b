// Package lines finds the lines of findings: where the trees of a change have the field that
// decides an API server's verdict.
//
// A Finding is a report.Finding with the data needed to locate it. A Locator loads the sources of a
// root once, when the first of its objects needs them, in these steps:
//
//   - FindFields: which fields of an object decide a failed validation (package locate);
//   - Locate: where these fields were written (package render), those that the change
//     wrote first (changed.go), with the lines around them (snippet.go) and the chain of
//     files that led to the value (chain.go);
//   - Prove: whether a place found by a rule is the right one, by changing it and
//     rendering the root again (proof.go).
//
// Content of Secrets is masked in every line and message that could show it (mask.go).
package lines
