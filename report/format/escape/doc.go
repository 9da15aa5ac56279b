// Package escape makes text of a repository safe for what it is written into: a
// terminal, a log of GitHub Actions, Markdown, HTML, workflow commands and JSON.
//
// Text and Lines write what cannot be seen, or would move a cursor, as an escape of Go.
// Guard keeps a finished line from being taken for a workflow command; a line may become
// one when it is joined of parts, so it comes last. Line does both. The other functions
// do the same in the syntax of one format.
package escape
