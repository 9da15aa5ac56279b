package text

import (
	"regexp"
	"strings"

	"github.com/preadmit/preadmit/report/format/excerpt"
)

// markedLine is a line of an expression, with the marks of one or more errors below it.
type markedLine struct{ source, marks string }

var (
	compileError = regexp.MustCompile(`ERROR: <input>:\d+:\d+: `)
	pointer      = regexp.MustCompile(`^\s*\| ([. ]*\^[.^~]*)\s*$`)
)

// mergeErrors merges consecutive compiler errors that show the same line, so that it is shown
// once below all of them. In merged, an empty line takes the place of each shown line and its
// marks; at has these by the index of the empty line.
func mergeErrors(lines []string) (merged []string, at map[int]markedLine) {
	at = map[int]markedLine{}
	last := -1 // the index in merged of the line that the previous error showed, -1 if none
	for i := 0; i < len(lines); i++ {
		source, marks, ok := drawn(lines[i:])
		if !ok {
			merged, last = append(merged, lines[i]), -1
			continue
		}
		text, now := lines[i], markedLine{source, marks}
		if i > 0 {
			text = strings.TrimSpace(text)
		}
		if last >= 0 && at[last].source == source {
			now.marks = overlay(at[last].marks, marks)
			delete(at, last)
			merged = merged[:last]
		}
		merged = append(merged, text, "")
		last = len(merged) - 1
		at[last] = now
		i += 2
	}
	return merged, at
}

// drawn returns the line of source that an error at the beginning of lines shows, and its marks.
func drawn(lines []string) (source, marks string, ok bool) {
	if len(lines) < 3 || !compileError.MatchString(lines[0]) {
		return "", "", false
	}
	source, ok = strings.CutPrefix(strings.TrimLeft(lines[1], " "), "| ")
	found := pointer.FindStringSubmatch(lines[2])
	if !ok || found == nil {
		return "", "", false
	}
	return strings.TrimRight(source, " "), found[1], true
}

// overlay returns the marks of a and b in one line.
func overlay(a, b string) string {
	out := []byte(a)
	for i := range len(b) {
		switch {
		case i >= len(out):
			out = append(out, b[i])
		case out[i] != '^':
			out[i] = b[i]
		}
	}
	return string(out)
}

// shownIn returns the number of the line of an excerpt that is d.source, and its offset there. ok is
// false if there is no such line, or more than one.
func (d markedLine) shownIn(lines []excerpt.Line) (number, offset int, ok bool) {
	for _, line := range lines {
		rest, is := strings.CutSuffix(strings.TrimRight(line.Text, " "), d.source)
		if line.Number == 0 || !is || strings.TrimSpace(rest) != "" || d.source == "" {
			continue
		}
		if ok {
			return 0, 0, false
		}
		number, offset, ok = line.Number, len(rest), true
	}
	return number, offset, ok
}
