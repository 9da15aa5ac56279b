package excerpt

import (
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/terminal"
)

// Range returns the range of cells to underline in the first line of a location.
func Range(line []terminal.Cell, l *report.Location) (from, to int) {
	to = len(line)
	if l.EndColumn > 0 && l.EndLine <= l.StartLine {
		to = min(to, l.EndColumn-1)
	}
	from = min(l.StartColumn-1, len(line))
	return from, max(to, from+1)
}

// Window is the visible part of long lines.
type Window struct {
	Room int // columns
	skip int // columns cut off on the left
}

// reveal moves the window so that the start of the range is in it.
func (w *Window) reveal(raw string, l *report.Location) {
	line := terminal.Cells(raw)
	from, to := Range(line, l)
	if !HasColumns(l) || Columns(line[:min(to, len(line))]) < w.Room {
		return
	}
	if start := Columns(line[:from]); start > w.Room/3 {
		w.skip = start - w.Room/3
	}
}

func Columns(line []terminal.Cell) int {
	n := 0
	for _, c := range line {
		n += c.Width
	}
	return n
}

// Show returns the visible part of a line, with an ellipsis where it is cut.
func (w Window) Show(line []terminal.Cell) string {
	var b strings.Builder
	col, end := 0, w.skip+w.Room
	cut := Columns(line) > end
	for _, c := range line {
		start := col
		col += c.Width
		switch {
		case col <= w.skip:
			continue
		case start <= w.skip && w.skip > 0:
			b.WriteString("…" + strings.Repeat(" ", max(0, col-w.skip-1)))
			continue
		case cut && col > end-1:
			return b.String() + "…"
		}
		b.WriteString(c.Text)
	}
	return b.String()
}

// place returns the column of the window where cell i starts.
func (w Window) place(line []terminal.Cell, i int) int {
	return min(max(0, Columns(line[:min(i, len(line))])-w.skip), w.Room-1)
}
