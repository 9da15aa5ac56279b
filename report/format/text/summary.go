package text

import (
	"fmt"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/outline"
)

// summary writes the last line, and with Verbose where the time went.
func (p *printer) summary(r *report.Report) {
	t := outline.TallyOf(r.Findings)
	if p.begun {
		p.line()
	}
	p.block(nil, 2, summaryStyle(r), outline.Summary(t, r, p.compared))
	if !p.opts.Verbose {
		return
	}
	d := r.Summary.Durations
	p.block(nil, 2, dim, fmt.Sprintf("%s, %s; discover %s, render %s, judge %s, locate %s",
		outline.Policies(r.Summary.Policies), outline.Count(r.Summary.Evaluations, "evaluation"),
		outline.InSeconds(d.Discover), outline.InSeconds(d.Render), outline.InSeconds(d.Judge), outline.InSeconds(d.Locate)))
	p.block(nil, 2, dim, outline.MadeBy(r))
}

// summaryStyle is the colour of the summary.
func summaryStyle(r *report.Report) style {
	if a := outline.Worst(r); a != "" {
		return actionStyle(a)
	}
	return green
}
