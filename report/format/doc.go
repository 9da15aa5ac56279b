// Package format writes reports in the formats that people and programs read.
//
// Write, WriteLint and WriteDiff write the reports of a scan, of lint and of preadmit
// diff; Formats, LintFormats and DiffFormats list the names of the formats of each. One
// table a kind of report holds its formats. Each format has a package of its own:
//
//	text      for a terminal or a log
//	json      the wire format, by package escape
//	sarif     SARIF 2.1.0, for code scanning
//	markdown  for a comment or a step summary on GitHub
//	html      a page that needs nothing else
//	junit     JUnit XML, for CI systems
//	github    workflow commands that annotate a run, by package workflow
//
// Every format is a pure function of the report: no clock, no environment, no files.
// What a report quotes from a repository - names, messages, lines of files - is hostile
// until proven otherwise. Package mask hides what Secrets hold before any format sees
// the report, and package escape makes text safe for what it is written into. What
// several formats say in the same words is in package outline, lines of source in
// package excerpt.
//
// Package objects writes rendered objects as YAML, for preadmit render.
package format
