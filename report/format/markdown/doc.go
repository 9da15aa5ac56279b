// Package markdown writes reports for comments and step summaries on GitHub.
//
// Nothing of a repository is read as Markdown: it is in code spans and fences. A text may
// have a limit. It is written in pieces, each of which closes what it opens, and a
// piece is taken as a whole or not at all (see limitedText).
package markdown
