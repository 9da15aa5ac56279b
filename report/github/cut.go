package github

import (
	"fmt"
	"regexp"
	"strings"
)

// cutNote returns a function that returns the paragraph at the end of cut Markdown; left
// is the number of lines left out.
func cutNote(detailsURL string) func(left int) string {
	return func(left int) string {
		lines := fmt.Sprintf("%d more lines do", left)
		if left == 1 {
			lines = "1 more line does"
		}
		return fmt.Sprintf("\n\n_Cut here: %s not fit GitHub's limit._%s\n", lines, more(detailsURL))
	}
}

// cut shortens Markdown to a limit, in the unit of size, and appends a note with the
// number of lines left out. It cuts between lines only: half a line may end inside a code
// span, and text that the span made harmless would then be rendered. Code fences and block
// elements (see blockTag) that are open at the cut are closed before the note.
func cut(text string, limit int, size func(string) int, note func(left int) string) string {
	if size(text) <= limit {
		return text
	}
	lines := strings.SplitAfter(strings.TrimRight(text, "\n"), "\n")
	room := limit - size(note(len(lines)))
	var open nesting
	used, kept, end := 0, 0, ""
	for i, line := range lines {
		used += size(line)
		if used > room {
			break
		}
		open.read(line)
		if closing := open.closing(); used+size(closing) <= room {
			kept, end = i+1, closing
		}
	}
	if room < 0 {
		return ""
	}
	return strings.TrimRight(strings.Join(lines[:kept], ""), "\n") + end + note(len(lines)-kept)
}

// nesting holds the code fence and block elements that are open between two lines of Markdown.
type nesting struct {
	fence  string // the run of backticks or tildes that opened the fence, "" if none is open
	indent int    // of the fence
	tags   []string
}

// These are compiled once and never change.
var (
	fenceLine = regexp.MustCompile("^( *)(`{3,}|~{3,})(.*)$")
	blockTag  = regexp.MustCompile(`<(/?)(details|summary|table|pre)\b[^>]*>`)
)

// read updates the nesting with one line.
func (n *nesting) read(line string) {
	line = strings.TrimRight(line, " \t\r\n")
	m := fenceLine.FindStringSubmatch(line)
	switch {
	case n.fence != "":
		if m != nil && m[2][0] == n.fence[0] && len(m[2]) >= len(n.fence) && m[3] == "" && len(m[1]) <= n.indent+3 {
			n.fence = ""
		}
	case m != nil && (m[2][0] == '~' || !strings.Contains(m[3], "`")):
		n.fence, n.indent = m[2], len(m[1])
	case strings.HasPrefix(strings.TrimLeft(line, " "), "<"):
		n.readTags(line)
	}
}

// readTags updates the open block elements with a line that begins with "<". In other
// lines a "<" may be in a code span.
func (n *nesting) readTags(line string) {
	for _, m := range blockTag.FindAllStringSubmatch(line, -1) {
		last := len(n.tags) - 1
		switch {
		case m[1] == "":
			n.tags = append(n.tags, m[2])
		case last >= 0 && n.tags[last] == m[2]:
			n.tags = n.tags[:last]
		}
	}
}

// closing returns the text that closes everything that is open.
func (n *nesting) closing() string {
	var b strings.Builder
	if n.fence != "" {
		b.WriteString("\n" + strings.Repeat(" ", n.indent) + n.fence)
	}
	if len(n.tags) > 0 {
		b.WriteString("\n")
	}
	for i := len(n.tags) - 1; i >= 0; i-- {
		b.WriteString("\n</" + n.tags[i] + ">")
	}
	return b.String()
}
