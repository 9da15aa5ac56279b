package text

import (
	"fmt"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/outline"
)

// summary writes the summary line, before it the notes on missing policies and on
// webhooks that were not called, and after it, if Verbose, the durations of the stages.
func (p *printer) summary(r *report.Report) {
	if p.begun && !p.closing {
		p.line()
	}
	if text := outline.NoPolicies(r); text != "" {
		p.block(nil, 2, yellow, text)
	}
	if text := outline.Webhooks(r); text != "" {
		p.block(nil, 2, dim, text)
	}
	worst := outline.CountsOf(r, p.existing()).Worst()
	p.block(nil, 2, classStyle(worst), outline.Summary(r, p.existing()))
	if !p.opts.Verbose {
		return
	}
	d := r.Summary.Durations
	p.block(nil, 2, dim, fmt.Sprintf("%s; discover %s, render %s, judge %s, locate %s",
		outline.Count(r.Summary.Evaluations, "evaluation"),
		outline.InSeconds(d.Discover), outline.InSeconds(d.Render), outline.InSeconds(d.Judge), outline.InSeconds(d.Locate)))
	p.block(nil, 2, dim, outline.MadeBy(r))
}

// hidden writes a line on what is not shown, with the flag that shows it.
func (p *printer) hidden(r *report.Report) {
	if p.opts.Quiet {
		return
	}
	text := outline.Hidden(r, p.existing(), p.opts.Verbose)
	if text == "" {
		return
	}
	flag := "--existing"
	if outline.CountsOf(r, p.existing()).Existing == 0 {
		flag = "-v"
	}
	if p.begun {
		p.line()
	}
	p.closing = true
	p.block(nil, 2, dim, "Not shown: "+text+" ("+flag+" shows them)")
}
