package html

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/preadmit/preadmit/report/format/outline"
)

// pieces collects the parts of a section within a limit of bytes. The first part that does
// not fit is left out completely, and so are all parts after it.
type pieces struct {
	b     strings.Builder
	limit int
	full  bool
	// left counts what was left out.
	left int
}

// put adds a part that stands for n items, and reports whether it fit.
func (p *pieces) put(text string, n int) bool {
	if p.full = p.full || p.b.Len()+len(text) > p.limit; p.full {
		p.left += n
		return false
	}
	p.b.WriteString(text)
	return true
}

func (p *pieces) html() template.HTML { return template.HTML(p.b.String()) } // html/template made the parts

// jsonHasAll is the sentence on where to find what was left out.
const jsonHasAll = "The report in JSON has all."

// leftOut returns a text on what was left out and where to find it, "" if nothing was.
func (p *pieces) leftOut(noun, elsewhere string) string {
	if p.left == 0 {
		return ""
	}
	return fmt.Sprintf("Left out for size: %s. %s", outline.Count(p.left, noun), elsewhere)
}

// mostUnbroken is the length of a count that fits in one line of a narrow screen.
const mostUnbroken = 24

// Unbroken returns a list of counts, like "3 denied, 1 warning", with no-break spaces, so that
// lines break only after commas. In a long count, only the first space becomes one.
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
