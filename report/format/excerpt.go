package format

import (
	"bufio"
	"strconv"
	"strings"

	"github.com/preadmit/preadmit/report"
)

// The lines of a snippet shown around the range at most.
const (
	linesBefore = 2
	linesAfter  = 2
	linesWithin = 4
)

// sameExcerpt tells whether an excerpt was just shown.
func sameExcerpt(a, b *report.Location) bool {
	return a.StartLine == b.StartLine && a.StartColumn == b.StartColumn &&
		a.EndLine == b.EndLine && a.EndColumn == b.EndColumn && a.SnippetLine == b.SnippetLine
}

// excerpt writes the lines of the source with the offending columns underlined,
// or, where only the line is known, a mark beside it. It tells whether the
// field's name found place beside the underline.
func (p *printer) excerpt(l *report.Location, margin int, mark style) (labelled bool) {
	first, lines := shownLines(l)
	w := window{room: p.width - margin - 3}
	if i := l.StartLine - first; i >= 0 && i < len(lines) {
		w.reveal(lines[i], l)
	}
	for i, raw := range lines {
		n := first + i
		gap := span{" | ", gutter}
		if n == l.StartLine && !pointed(l) {
			gap = span{" > ", mark}
		}
		p.line(span{padLeft(strconv.Itoa(n), margin), gutter}, gap, span{w.show(cells(raw)), plainStyle})
		if n == l.StartLine && pointed(l) {
			labelled = p.underline(cells(raw), l, margin, mark, w)
		}
	}
	return labelled
}

// excerptWidth is the width of excerpts in formats that are not for a terminal.
const excerptWidth = 100

// excerptLines is an excerpt for such a format; nil when there is none.
func excerptLines(l *report.Location) []string {
	if len(l.Snippet) == 0 {
		return nil
	}
	var b strings.Builder
	w := bufio.NewWriter(&b)
	p := &printer{w: w, width: excerptWidth}
	p.excerpt(l, marginOf([]*report.Location{l}), plainStyle)
	if w.Flush() != nil || b.Len() == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// pointed tells whether the columns of a location mean something: the start of an
// inexact one without an end is just where the line begins.
func pointed(l *report.Location) bool {
	return l.StartColumn > 0 && (l.Exact || l.EndColumn > 0)
}

// shownLines cuts the snippet to a few lines around the range.
func shownLines(l *report.Location) (first int, lines []string) {
	first, lines = max(1, l.SnippetLine), l.Snippet
	last := first + len(lines) - 1
	from := min(max(first, l.StartLine-linesBefore), last+1)
	to := min(last, max(l.StartLine, min(l.EndLine, l.StartLine+linesWithin))+linesAfter)
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

// columns gives the range of cells to underline on the range's first line.
func columns(line []cell, l *report.Location) (from, to int) {
	to = len(line)
	if l.EndColumn > 0 && l.EndLine <= l.StartLine {
		to = min(to, l.EndColumn-1)
	}
	from = min(l.StartColumn-1, len(line))
	return from, max(to, from+1)
}

// underline draws ^~~~ under the range, and the field's name where there is room.
func (p *printer) underline(line []cell, l *report.Location, margin int, mark style, w window) bool {
	from, to := columns(line, l)
	at, end := w.place(line, from), w.place(line, to)
	if to > len(line) {
		end = at + 1
	}
	drawing := strings.Repeat(" ", at) + "^" + strings.Repeat("~", max(0, end-at-1))
	label := ""
	if field := escape(l.Field); field != "" && len(drawing)+1+displayWidth(field) <= w.room {
		label = " " + field
	}
	p.line(blanks(margin), span{" | ", gutter}, span{drawing + label, mark})
	return label != ""
}

// window is the part of long lines that is shown.
type window struct {
	room int // columns
	skip int // columns cut off on the left
}

// reveal moves the window so that the start of the range is in it.
func (w *window) reveal(raw string, l *report.Location) {
	line := cells(raw)
	from, to := columns(line, l)
	if !pointed(l) || columnsOf(line[:min(to, len(line))]) < w.room {
		return
	}
	if start := columnsOf(line[:from]); start > w.room/3 {
		w.skip = start - w.room/3
	}
}

func columnsOf(line []cell) int {
	n := 0
	for _, c := range line {
		n += c.width
	}
	return n
}

// show gives the visible part of a line, with an ellipsis where it is cut.
func (w window) show(line []cell) string {
	var b strings.Builder
	col, end := 0, w.skip+w.room
	cut := columnsOf(line) > end
	for _, c := range line {
		start := col
		col += c.width
		switch {
		case col <= w.skip:
			continue
		case start <= w.skip && w.skip > 0:
			b.WriteString("…" + strings.Repeat(" ", max(0, col-w.skip-1)))
			continue
		case cut && col > end-1:
			return b.String() + "…"
		}
		b.WriteString(c.text)
	}
	return b.String()
}

// place gives the column of the window where cell i starts.
func (w window) place(line []cell, i int) int {
	return min(max(0, columnsOf(line[:min(i, len(line))])-w.skip), w.room-1)
}
