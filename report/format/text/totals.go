package text

import (
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/outline"
	"github.com/preadmit/preadmit/report/format/terminal"
)

// totals writes a table of counts for each key of Options.By.
func (p *printer) totals(findings []report.Finding) {
	for _, by := range p.opts.By {
		list := outline.Totals(findings, by)
		p.heading(span{"By " + by, bold})
		if len(list) == 0 {
			p.line(blanks(2), span{"no findings", plainStyle})
		}
		width := 0
		for _, t := range list {
			width = max(width, terminal.Width(t.Name))
		}
		for _, t := range list {
			p.line(blanks(2), span{t.Name, plainStyle}, blanks(width-terminal.Width(t.Name)+2), span{t.String(), plainStyle})
		}
	}
}
