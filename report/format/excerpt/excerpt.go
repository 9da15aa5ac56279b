package excerpt

import (
	"strconv"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/outline"
	"github.com/preadmit/preadmit/report/format/terminal"
)

// Maximum numbers of lines shown before, after and within the range.
const (
	linesBefore = 2
	linesAfter  = 2
	LinesWithin = 4
)

// Same reports whether two locations have the same excerpt, assuming the same file.
func Same(a, b *report.Location) bool {
	return a.StartLine == b.StartLine && a.StartColumn == b.StartColumn &&
		a.EndLine == b.EndLine && a.EndColumn == b.EndColumn && a.SnippetLine == b.SnippetLine
}

// Line is a line of an excerpt: a line of the source, or the mark below it.
type Line struct {
	// Number is the number of the source line, 0 for a mark below one.
	Number int
	// Marked is set for the first line of the range if its columns are not known.
	Marked bool
	Text   string
	// Labelled is set for a mark that is followed by the field's name.
	Labelled bool
}

// Draw returns the lines of the source, of at most room columns. The columns of the range
// are underlined; if only the line is known, that line is marked.
func Draw(l *report.Location, room int) []Line {
	first, lines := Shown(l)
	w := Window{Room: room}
	if i := l.StartLine - first; i >= 0 && i < len(lines) {
		w.reveal(lines[i], l)
	}
	var out []Line
	for i, raw := range lines {
		n := first + i
		line := terminal.Cells(raw)
		out = append(out, Line{Number: n, Marked: n == l.StartLine && !HasColumns(l), Text: w.Show(line)})
		if n == l.StartLine && HasColumns(l) {
			out = append(out, underline(line, l, w))
		}
	}
	return out
}

// width is the width of excerpts in formats that are not for a terminal.
const width = 100

// Lines returns an excerpt for such a format, nil if there is none.
func Lines(l *report.Location) []string {
	margin := Margin([]*report.Location{l})
	var out []string
	for _, line := range Draw(l, width-margin-3) {
		number, gap := "", " | "
		if line.Number > 0 {
			number = strconv.Itoa(line.Number)
		}
		if line.Marked {
			gap = " > "
		}
		out = append(out, escape.Guard(strings.TrimRight(terminal.PadLeft(number, margin)+gap+line.Text, " ")))
	}
	return out
}

// HasColumns reports whether the columns of a location are meaningful. The start column of
// an inexact location without an end is only the start of the line.
func HasColumns(l *report.Location) bool {
	return l.StartColumn > 0 && (l.Exact || l.EndColumn > 0)
}

// Shown returns the few lines of the snippet around the range, and the number of the first.
func Shown(l *report.Location) (first int, lines []string) {
	first, lines = max(1, l.SnippetLine), l.Snippet
	last := first + len(lines) - 1
	from := min(max(first, l.StartLine-linesBefore), last+1)
	to := min(last, max(l.StartLine, min(l.EndLine, l.StartLine+LinesWithin))+linesAfter)
	if to < from {
		return from, nil
	}
	out := make([]string, 0, to-from+1)
	for _, line := range lines[from-first : to-first+1] {
		out = append(out, strings.TrimRight(line, " \t\r\n"))
	}
	for len(out) > 0 && out[len(out)-1] == "" && from+len(out)-1 > l.StartLine {
		out = out[:len(out)-1]
	}
	return from, out
}

// underline returns a line with ^~~~ below the range, and with the field's name if it fits.
func underline(line []terminal.Cell, l *report.Location, w Window) Line {
	from, to := Range(line, l)
	at, end := w.place(line, from), w.place(line, to)
	if to > len(line) {
		end = at + 1
	}
	drawing := strings.Repeat(" ", at) + "^" + strings.Repeat("~", max(0, end-at-1))
	label := ""
	if field := escape.Text(l.Field); field != "" && len(drawing)+1+terminal.Width(field) <= w.Room {
		label = " " + field
	}
	return Line{Text: drawing + label, Labelled: label != ""}
}

// Margin returns the width of the column for positions to the left of entries at these places.
func Margin(places []*report.Location) int {
	margin := 0
	for _, l := range places {
		margin = max(margin, len(outline.Position(l)), len(strconv.Itoa(l.SnippetLine+len(l.Snippet))))
	}
	return 2 + margin
}
