package escape

import (
	"regexp"
	"strings"
)

// maxTicks is the longest run of backticks kept in Markdown: GitHub's parser does
// not take longer ones for delimiters, so that no longer delimiter could hold them.
const maxTicks = 16

// ticks are runs of backticks. It is compiled once and never changes.
var ticks = regexp.MustCompile("`+")

// CodeSpan is one line of text for Markdown, as code: nothing in it is read as
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

// CodeBlock is lines of text for Markdown, in a fence that they cannot end. Each is
// escaped. lang names the language to colour it in, or empty.
func CodeBlock(lang string, lines []string) string {
	var body strings.Builder
	for _, l := range lines {
		body.WriteString(Guard(untick(Text(l))) + "\n")
	}
	fence := strings.Repeat("`", max(3, longestTicks(body.String())+1))
	return fence + lang + "\n" + body.String() + fence + "\n"
}

// untick writes runs of backticks that are too long to be held as escapes.
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

// maxQuote bounds a quoted message, in runes: one message must stay small against what
// a comment holds.
const maxQuote = 2000

// Quote is text for Markdown, like a message of the API server: a line as a quote,
// several in a fence.
func Quote(s string) string {
	lines := Lines(Clip(s, maxQuote))
	if len(lines) == 1 {
		return "> " + CodeSpan(lines[0]) + "\n"
	}
	return CodeBlock("text", lines)
}
