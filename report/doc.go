// Package report defines preadmit's reports: the types of the JSON that the commands
// write, and functions that need nothing but these types.
//
//   - Report is the result of a scan, LintReport that of lint, Comparison that of
//     preadmit diff. JSON is the only wire format; package format writes all others.
//   - Read and Open read a report strictly: unknown and repeated fields, values outside
//     of an enumeration and numbers out of range are errors.
//   - Sort puts a report in its total order, and SetFingerprints gives findings
//     identities that do not depend on lines.
//   - Verdict and Failed decide whether a report fails a run, by --fail-on.
//
// The package imports only the standard library, so that programs that handle reports
// do not link the scanner.
package report
