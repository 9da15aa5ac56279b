package text

import (
	"fmt"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/outline"
)

// How much of what is not a finding is shown unless Verbose: in a large repository
// hundreds of roots may need a network, and the findings must stay in sight.
const (
	mostReasons = 8
	mostPlaces  = 3
	mostRemarks = 5
)

// indeterminate lists what could not be judged, reason by reason: one missing CRD
// may leave fifty objects unjudged.
func (p *printer) indeterminate(list []report.Indeterminate) {
	if len(list) == 0 {
		return
	}
	p.heading(span{"Indeterminate", yellow}, span{": not judged, so not known to be allowed", plainStyle})
	untouched := 0
	if !p.opts.Verbose {
		list, untouched = outline.Touched(list)
	}
	defer p.untouched(untouched)
	reasons := outline.Reasons(list)
	for i, u := range reasons {
		p.line()
		if i == mostReasons && len(reasons) > mostReasons+1 && !p.opts.Verbose {
			n := 0
			for _, rest := range reasons[i:] {
				n += rest.Count()
			}
			p.line(blanks(2), span{fmt.Sprintf("and %s, %d indeterminate (-v lists them)", outline.Count(len(reasons)-i, "more reason"), n), plainStyle})
			return
		}
		p.unjudged(u)
	}
}

func (p *printer) untouched(n int) {
	if n > 0 {
		p.line()
		p.line(blanks(2), span{fmt.Sprintf("%d that the change does not touch (-v lists them)", n), plainStyle})
	}
}

func (p *printer) unjudged(u *outline.Reason) {
	p.message([]span{blanks(2)}, 2, bold, u.Why)
	for i, pl := range u.Places {
		if i == mostPlaces && len(u.Places) > mostPlaces+1 && !p.opts.Verbose {
			p.line(blanks(4), span{fmt.Sprintf("- and %s (-v lists them)", outline.Count(len(u.Places)-i, "more place")), plainStyle})
			return
		}
		p.block([]span{blanks(4), {"- ", gutter}}, 6, plainStyle, pl.Text(p.opts.Verbose))
	}
}

// diagnostics lists remarks as compilers do. Notes are many in a repository with old
// debris, so only some are shown; errors and warnings all are.
func (p *printer) diagnostics(list []report.Diagnostic) {
	if len(list) == 0 {
		return
	}
	p.heading(span{"Remarks", bold})
	p.line()
	shown, hidden := 0, 0
	for _, r := range outline.Remarks(list) {
		if shown >= mostRemarks && r.Severity == "note" && !p.opts.Verbose {
			hidden++
			continue
		}
		p.remark(r)
		shown++
	}
	if hidden > 0 {
		p.line(blanks(2), span{"and " + outline.Count(hidden, "more note") + " (-v lists them)", plainStyle})
	}
}

func (p *printer) remark(r *outline.Remark) {
	lead := []span{blanks(2)}
	switch {
	case r.Location != nil:
		lead = append(lead, span{outline.Place(r.Location) + ": ", plainStyle})
	case r.Root != "":
		lead = append(lead, span{"root " + escape.Text(r.Root) + ": ", plainStyle})
	}
	lead = append(lead, span{escape.Text(r.Severity) + ": ", severityStyle(r.Severity)})
	message := r.Message
	if roots := outline.RootList(r.Roots, r.Location, p.opts.Verbose); roots != "" && r.Location != nil {
		message += " (" + roots + ")"
	}
	p.message(lead, 4, plainStyle, message)
}

func severityStyle(severity string) style {
	switch severity {
	case "error":
		return red
	case "warning":
		return yellow
	}
	return blue
}

// resolved lists what the change makes better, one finding a line or two.
func (p *printer) resolved(findings []report.Finding) {
	begun := false
	for i := range findings {
		f := &findings[i]
		if f.Status != report.StatusResolved {
			continue
		}
		if !begun {
			p.heading(span{"Resolved", green}, span{" by this change", plainStyle})
			p.line()
			begun = true
		}
		text := outline.Place(&f.Location) + ": " + escape.Lines(f.Message)[0]
		if f.Policy != "" {
			text += " (" + escape.Text(f.Policy) + ")"
		}
		p.block([]span{blanks(2), {escape.Text(string(f.Action)), actionStyle(f.Action)}, {" ", plainStyle}}, 4, plainStyle, text)
	}
}
