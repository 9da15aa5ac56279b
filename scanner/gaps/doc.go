// Package gaps collects what a scan does not judge, so that nothing passes silently.
//
// A Ledger has a Gap for each thing that was not judged: its kind, root, position and reason, and
// what it may hide. Each rule against silent passes is a function of this package. The table in
// rules.go states what each rule protects against and which tests cover it. Rules read the two
// trees (package change), the clusters (package target) and the ledger, but never a report. A
// rule's findings and warnings, which are no gaps, are returned, or kept in the ledger's Failed and
// Notes.
//
// At the end of a scan Locate finds the lines of objects that were not judged, and Indeterminate
// converts the gaps for the report, which sorts them.
package gaps
