package format

// Notice is the workflow command of GitHub Actions, without a newline, that shows text
// as a notice of the run. The text may be of a repository or a server: it is escaped.
func Notice(text string) string { return "::notice title=preadmit::" + commandData(text) }

// Lines is Line for text of several lines.
func Lines(text string) []string {
	lines := escapeLines(text)
	for i := range lines {
		lines[i] = guardLine(lines[i])
	}
	return lines
}

// Code is one line of text for Markdown, as code: nothing in it is read as Markdown or
// HTML, and no mention is one.
func Code(text string) string { return codeSpan(text) }
