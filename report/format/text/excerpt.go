package text

import (
	"strconv"

	"github.com/preadmit/preadmit/report/format/excerpt"
	"github.com/preadmit/preadmit/report/format/terminal"
)

// excerpt writes an excerpt. marks are additional marks to write below lines, by line number. It
// reports whether the field's name was written next to the underline.
func (p *printer) excerpt(lines []excerpt.Line, marks map[int]string, margin int, mark style) (labelled bool) {
	for _, line := range lines {
		switch {
		case line.Number == 0:
			p.line(blanks(margin), span{" | ", gutter}, span{line.Text, mark})
		case line.Marked:
			p.line(span{terminal.PadLeft(strconv.Itoa(line.Number), margin), gutter}, span{" > ", mark}, span{line.Text, plainStyle})
		default:
			p.line(span{terminal.PadLeft(strconv.Itoa(line.Number), margin), gutter}, span{" | ", gutter}, span{line.Text, plainStyle})
		}
		if more := marks[line.Number]; more != "" && line.Number > 0 {
			p.line(blanks(margin), span{" | ", gutter}, span{more, mark})
		}
		labelled = labelled || line.Labelled
	}
	return labelled
}
