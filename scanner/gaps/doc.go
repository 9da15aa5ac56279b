// Package gaps collects what a scan does not judge, so that nothing passes in silence.
//
// A Ledger has a Gap for each thing that was not judged: of which kind it is, in which
// root, where, why, and what it may hide. Each rule against silent passes is a function of
// this package; the table in rules.go says what each protects from and which test shows
// it. Rules look at the two trees (package change), at the clusters (package target) and
// at the ledger, never at a report. What follows from a rule and is no gap - a finding, a
// warning - is returned, or kept in the ledger's Failed and Notes.
//
// At the end of a scan Locate finds the lines of objects that were not judged, and
// Indeterminate makes of the gaps what a report says. A report has a fixed order.
package gaps
