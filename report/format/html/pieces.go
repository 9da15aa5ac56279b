package html

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/preadmit/preadmit/report/format/outline"
)

// pieces are parts of a section, within a number of bytes. A part that has no room is
// left out as a whole, and so is everything after it.
type pieces struct {
	b     strings.Builder
	limit int
	full  bool
	// left counts what was left out.
	left int
}

// put adds a part that stands for n; it reports whether there was room.
func (p *pieces) put(text string, n int) bool {
	if p.full = p.full || p.b.Len()+len(text) > p.limit; p.full {
		p.left += n
		return false
	}
	p.b.WriteString(text)
	return true
}

func (p *pieces) html() template.HTML { return template.HTML(p.b.String()) } // parts are html/template's

// jsonHasAll says where to find what had no room.
const jsonHasAll = "The report in JSON has all."

// leftOut says what had no room, and where it is; empty if all had.
func (p *pieces) leftOut(noun, elsewhere string) string {
	if p.left == 0 {
		return ""
	}
	return fmt.Sprintf("Left out for size: %s. %s", outline.Count(p.left, noun), elsewhere)
}

// mostUnbroken is the number of letters of a count that a narrow screen has in one line.
const mostUnbroken = 24

// Unbroken is a list of counts, like "3 denied, 1 warning", that a narrow screen breaks after
// commas only; in a count of many words, after the number and its first word.
func Unbroken(counts string) string {
	parts := strings.Split(counts, ", ")
	for i, part := range parts {
		spaces := -1
		if len(part) > mostUnbroken {
			spaces = 1
		}
		parts[i] = strings.Replace(part, " ", "\u00a0", spaces)
	}
	return strings.Join(parts, ", ")
}
