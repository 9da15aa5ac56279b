package format

import (
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/report"
)

// sourceColumns is the most of a line of source that is shown.
const sourceColumns = 400

// sourceView is an excerpt of a file.
type sourceView struct {
	Caption string
	Lines   []lineView
}

// lineView is a line of it. Marked is the part that is underlined; Hit is set for a
// line that is at fault.
type lineView struct {
	N                     int
	Hit                   bool
	Before, Marked, After string
}

// source is the excerpt of a location.
func (h *page) source(l *report.Location) sourceView {
	first, lines := shownLines(l)
	if len(lines) == 0 {
		return sourceView{}
	}
	v := sourceView{Caption: fmt.Sprintf("Source: %s from line %d", escape(l.Path), first)}
	for i, raw := range lines {
		v.Lines = append(v.Lines, sourceLine(raw, first+i, l))
	}
	return v
}

// sourceLine marks the range of a location in a line of it.
func sourceLine(raw string, n int, l *report.Location) lineView {
	line := cells(raw)
	v := lineView{N: n, Hit: n == l.StartLine || n > l.StartLine && n <= l.EndLine && n-l.StartLine <= linesWithin}
	if n != l.StartLine || !pointed(l) {
		v.Before = window{room: sourceColumns}.show(line)
		return v
	}
	from, to := columns(line, l)
	to = min(to, len(line))
	start := 0
	if columnsOf(line[:to]) > sourceColumns {
		start = max(0, from-sourceColumns/4)
	}
	end := min(len(line), start+sourceColumns)
	to = min(to, end)
	v.Before, v.Marked, v.After = textOf(line[start:from]), textOf(line[from:to]), textOf(line[to:end])
	if v.Marked == "" {
		v.Marked = " " // the range is behind the end of the line
	}
	if start > 0 {
		v.Before = "…" + v.Before
	}
	if end < len(line) {
		v.After += "…"
	}
	return v
}

func textOf(line []cell) string {
	var b strings.Builder
	for _, c := range line {
		b.WriteString(c.text)
	}
	return b.String()
}
