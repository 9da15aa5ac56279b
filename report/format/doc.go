// Package format writes reports in the formats that people and programs read.
//
// Write, WriteLint and WriteDiff write the reports of a scan, of lint and of preadmit
// diff; Formats, LintFormats and DiffFormats list the names of their formats. There is
// one table of formats per kind of report. Most formats have a package of their own:
//
//	text      for a terminal or a log
//	json      the wire format, by package escape
//	sarif     SARIF 2.1.0, for code scanning
//	markdown  for a comment or a step summary on GitHub
//	html      a self-contained page
//	junit     JUnit XML, for CI systems
//	github    workflow commands that annotate a run, by package workflow
//
// Every format is a pure function of the report: no clock, no environment, no files.
// Text that a report quotes from a repository (names, messages, lines of files) is not
// trusted. Package mask hides the values of Secrets before any format reads the report,
// and package escape escapes text for the output format. Texts that several formats share
// come from package outline, excerpts of source files from package excerpt.
//
// Package objects writes rendered objects as YAML, for preadmit render.
package format
