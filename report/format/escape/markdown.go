package escape

import (
	"regexp"
	"strings"
)

// maxTicks is the longest run of backticks that is kept in Markdown. GitHub's parser does
// not accept much longer runs as delimiters, so they could not be enclosed.
const maxTicks = 16

// ticks matches runs of backticks. It is compiled once and never changes.
var ticks = regexp.MustCompile("`+")

// CodeSpan returns one line of text as a code span of Markdown: nothing in it is read as
// Markdown or HTML, and GitHub links no mention, reference, commit or URL in it.
func CodeSpan(s string) string {
	s = untick(Text(s))
	if strings.TrimSpace(s) == "" {
		return "` `"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || strings.HasPrefix(s, " ") && strings.HasSuffix(s, " ") {
		s = " " + s + " "
	}
	delimiter := strings.Repeat("`", longestTicks(s)+1)
	return Guard(delimiter + s + delimiter)
}

// CodeBlock returns escaped lines of text as a fenced code block of Markdown, with a fence
// that they cannot close. lang is the language for syntax highlighting, or empty.
func CodeBlock(lang string, lines []string) string {
	var body strings.Builder
	for _, l := range lines {
		body.WriteString(Guard(untick(Text(l))) + "\n")
	}
	fence := strings.Repeat("`", max(3, longestTicks(body.String())+1))
	return fence + lang + "\n" + body.String() + fence + "\n"
}

// untick escapes all backticks if s has a run of them longer than maxTicks.
func untick(s string) string {
	if longestTicks(s) <= maxTicks {
		return s
	}
	return strings.ReplaceAll(s, "`", `\u0060`)
}

func longestTicks(s string) int {
	longest := 0
	for _, run := range ticks.FindAllString(s, -1) {
		longest = max(longest, len(run))
	}
	return longest
}

// maxQuote bounds a quoted message, in runes. One message must be small compared to the
// limit of a comment.
const maxQuote = 2000

// Quote returns text, like a message of the API server, as Markdown: one line as a block
// quote, several lines as a code block.
func Quote(s string) string {
	lines := Lines(Clip(s, maxQuote))
	if len(lines) == 1 {
		return "> " + CodeSpan(lines[0]) + "\n"
	}
	return CodeBlock("text", lines)
}
