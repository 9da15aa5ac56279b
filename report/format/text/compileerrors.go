package text

import (
	"regexp"
	"strings"

	"github.com/preadmit/preadmit/report/format/excerpt"
)

// pointed is a line of an expression with marks below it that several errors point with.
type pointed struct{ source, marks string }

var (
	compileError = regexp.MustCompile(`ERROR: <input>:\d+:\d+: `)
	pointer      = regexp.MustCompile(`^\s*\| ([. ]*\^[.^~]*)\s*$`)
)

// mergeErrors merges errors of a compiler that draw the same line one after the other: it is drawn
// once, below all of them. The lines returned have what is in at in the place of what was drawn.
func mergeErrors(lines []string) (merged []string, at map[int]pointed) {
	at = map[int]pointed{}
	last := -1 // the line in merged that has what the error before drew
	for i := 0; i < len(lines); i++ {
		source, marks, ok := drawn(lines[i:])
		if !ok {
			merged, last = append(merged, lines[i]), -1
			continue
		}
		text, now := lines[i], pointed{source, marks}
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

// drawn returns the line that an error at the beginning of lines draws, and its marks.
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

// overlay puts marks over others.
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

// shownIn returns the number of the one line of an excerpt that is the line that errors point at, and
// how far to the right it begins there.
func (d pointed) shownIn(lines []excerpt.Line) (number, offset int, ok bool) {
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
