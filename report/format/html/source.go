package html

import (
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/excerpt"
	"github.com/preadmit/preadmit/report/format/terminal"
)

// sourceColumns is the maximum number of columns of a source line that are shown.
const sourceColumns = 400

// sourceView is an excerpt of a file.
type sourceView struct {
	Caption string
	Lines   []lineView
}

// lineView is a line of an excerpt. Marked is the part that is underlined; Hit is set for
// the lines of the location.
type lineView struct {
	N                     int
	Hit                   bool
	Before, Marked, After string
}

// source returns the excerpt of a location.
func (h *page) source(l *report.Location) sourceView {
	first, lines := excerpt.Shown(l)
	if len(lines) == 0 {
		return sourceView{}
	}
	v := sourceView{Caption: fmt.Sprintf("Source: %s from line %d", escape.Text(l.Path), first)}
	for i, raw := range lines {
		v.Lines = append(v.Lines, sourceLine(raw, first+i, l))
	}
	return v
}

// sourceLine returns line n of the source, with the range of the location marked.
func sourceLine(raw string, n int, l *report.Location) lineView {
	line := terminal.Cells(raw)
	v := lineView{N: n, Hit: n == l.StartLine || n > l.StartLine && n <= l.EndLine && n-l.StartLine <= excerpt.LinesWithin}
	if n != l.StartLine || !excerpt.HasColumns(l) {
		v.Before = excerpt.Window{Room: sourceColumns}.Show(line)
		return v
	}
	from, to := excerpt.Range(line, l)
	to = min(to, len(line))
	start := 0
	if excerpt.Columns(line[:to]) > sourceColumns {
		start = max(0, from-sourceColumns/4)
	}
	end := min(len(line), start+sourceColumns)
	to = min(to, end)
	v.Before, v.Marked, v.After = textOf(line[start:from]), textOf(line[from:to]), textOf(line[to:end])
	if v.Marked == "" {
		v.Marked = " " // the range is after the end of the line
	}
	if start > 0 {
		v.Before = "…" + v.Before
	}
	if end < len(line) {
		v.After += "…"
	}
	return v
}

func textOf(line []terminal.Cell) string {
	var b strings.Builder
	for _, c := range line {
		b.WriteString(c.Text)
	}
	return b.String()
}
