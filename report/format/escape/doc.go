// Package escape escapes text of a repository for its output: a terminal, a log of GitHub
// Actions, Markdown, HTML, workflow commands and JSON.
//
// Text and Lines write invisible and control characters as Go escape sequences. Guard
// changes a complete line that would be a workflow command; since joining parts may form
// one, call Guard last. Line does both. The other functions do the same in the syntax of
// one format.
package escape
