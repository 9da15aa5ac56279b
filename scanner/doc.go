// Package scanner says what a cluster's API server will say to a change: it
// renders both trees of the change, turns the difference into admission requests,
// has each decided by the offline API server with the policies of the base and of the
// head, and reports every denial and warning on the line it comes from.
//
// Scan works in stages, each of which passes values on to the next:
//
//   - discover: find the roots of both trees (package change);
//   - render: render the roots that matter (package plan), put their objects together to
//     clusters before and after the change (package target);
//   - judge: pair the objects of each root into requests, and have the servers of the
//     target decide them (package server); what controllers create of workloads too. The
//     result is an outcome: findings, warnings, and what could not be judged;
//   - locate: find the lines of all that (package lines);
//   - finish: put the report in order, give findings their fingerprints, count.
//
// What is not judged is collected in a ledger on the way, with all rules against silent
// passes (package gaps). NewSurvey stops before judging, for package lint; Compare only
// compares the rendered objects (package diff).
//
// A report is the only result. Scan has no network, no clock but for durations and
// no environment; equal inputs give equal reports.
package scanner
