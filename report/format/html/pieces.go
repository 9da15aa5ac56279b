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
