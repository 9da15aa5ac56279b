// Package lines finds the lines of findings: where in the trees of a change the field is
// written that decides what an API server says.
//
// A Finding is a report.Finding with what it takes to locate it. A Locator loads the
// sources of a root once, when the first of its objects needs them, and takes these steps:
//
//   - FindFields: which fields of an object decide a failed validation (package locate);
//   - Locate: where these fields were written (package render), those that the change
//     wrote first (changed.go), with the lines around them (snippet.go);
//   - Prove: whether a place that a rule found is the right one, by changing it and
//     rendering the root again (proof.go);
//   - Explain: the chain of files that led to a value (chain.go).
//
// What Secrets hold is masked wherever a line or a message could show it (mask.go).
package lines
