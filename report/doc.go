// Package report holds what preadmit reports: the types of the JSON that a scan, a
// diff and lint write, and what follows from them alone.
//
//   - Report is the result of a scan, LintReport that of lint, Comparison that of
//     preadmit diff. JSON is the one wire format; package format writes the others.
//   - Read and Open read a report back, strictly: unknown and repeated fields, values
//     outside of an enumeration and unlikely numbers are errors.
//   - Sort puts a report in its total order, and SetFingerprints gives findings
//     identities that hold when lines move.
//   - Verdict and Failed weigh a report by --fail-on.
//
// The package imports the standard library only, so that programs which handle
// reports do not link the engine that makes them.
package report
