// Package github publishes a report on GitHub: one check run for a commit, one
// comment on a pull request, and a SARIF file for code scanning.
//
// Everything is idempotent: publishing the same content for the same commit again only
// reads from GitHub and writes nothing. If a token lacks a permission, the result is an
// *Error with a Kind, so that a caller can fall back to outputs that need no permission
// (annotations by workflow commands and a step summary) and mention it there.
//
// Bodies are Markdown that package report/format escaped. This package adds only fixed
// text, numbers and the details URL to them.
package github
