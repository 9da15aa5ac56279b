// Package markdown writes reports for comments and step summaries on GitHub.
//
// Text of a repository is put in code spans and fences, so that it is not read as Markdown.
// A text may have a limit. It is written in pieces, each of which closes what it opens, and
// a piece is written completely or not at all (see limitedText).
package markdown
