// Package github publishes a report on GitHub: one check run for a commit, one
// comment on a pull request, and a SARIF file for code scanning.
//
// Everything is idempotent: publishing the same content for the same commit once more
// asks GitHub what is there and writes nothing. What GitHub does not let a token do
// comes back as an *Error of a Kind, so that a caller can fall back to what needs no
// permission - annotations of workflow commands and a step summary - and say so.
//
// Bodies are Markdown that package report/format escaped. What this package adds to them
// is fixed text, numbers and the details URL.
package github
