// Package scanner predicts what a cluster's API server will answer to a change: it renders both
// trees of the change, turns the difference into admission requests, decides each with the offline
// API server and the policies of the base and of the head, and reports every denial and warning on
// the line that causes it.
//
// Scan works in stages. Each stage passes its results to the next:
//
//   - discover: find the roots of both trees (package change);
//   - render: render the roots that matter (package plan), and combine their objects into
//     cluster states before and after the change (package target);
//   - judge: pair the objects of each root into requests, and decide them with the servers of
//     the target (package server), including the objects that controllers create of workloads.
//     The result is an outcome: findings, warnings and gaps;
//   - locate: find the lines of findings and gaps (package lines);
//   - finish: sort the report, set fingerprints, count.
//
// A ledger collects what is not judged, with all rules against silent passes (package gaps).
// NewSurvey stops before judging, for package lint. Compare only compares the rendered objects
// (package diff).
//
// A report is the only result. Scan uses no network, no environment, and the clock only for
// durations. Equal inputs give equal reports.
package scanner
