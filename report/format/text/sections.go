package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/outline"
)

// Limits on what is shown besides findings unless Verbose: in a large repository hundreds
// of roots may need a network, and the findings must stay visible.
const (
	mostReasons = 5
	mostNotes   = 3
	mostCharts  = 20
	// remarkRunes is the maximum number of characters of a remark that are shown.
	remarkRunes = 200
)

// indeterminate writes what could not be judged, by reason, each with one example: one
// missing CRD may leave fifty objects unjudged.
func (p *printer) indeterminate(list []report.Indeterminate, open []report.Finding) {
	if !p.opts.Verbose && !p.existing() {
		list, _ = outline.Touched(list)
	}
	if len(p.before) > 0 {
		list, _ = outline.NoBetterBefore(list, open)
	}
	if len(list) == 0 {
		return
	}
	p.heading(span{"Not judged", yellow}, span{", so not known to be allowed", plainStyle})
	reasons := outline.Reasons(list)
	for i, u := range reasons {
		if i == mostReasons && len(reasons) > mostReasons+1 && !p.opts.Verbose {
			n := 0
			for _, rest := range reasons[i:] {
				n += rest.Count()
			}
			p.line(blanks(2), span{fmt.Sprintf("and %d for %s (-v lists them)", n, outline.Count(len(reasons)-i, "more reason")), plainStyle})
			return
		}
		p.unjudged(u)
	}
}

func (p *printer) unjudged(u *outline.Reason) {
	lead := []span{blanks(2)}
	if n := u.Count(); n > 1 {
		lead = append(lead, span{fmt.Sprintf("%d: ", n), yellow})
	}
	p.message(lead, 4, bold, u.Why, nil)
	if p.opts.Verbose {
		for _, pl := range u.Places {
			full := pl.Full(u)
			p.block([]span{blanks(4), {"- ", gutter}}, 6, plainStyle, full[0])
			for _, line := range full[1:] {
				p.message([]span{blanks(6)}, 6, plainStyle, line, nil)
			}
		}
		return
	}
	text := u.Places[0].Text(false)
	if len(u.Places) > 1 {
		text = "for example " + text
	}
	p.block([]span{blanks(4)}, 6, plainStyle, text)
}

// charts writes the changes by new versions of charts.
func (p *printer) charts(r *report.Report) {
	all := outline.Charts(r)
	if len(all) == 0 {
		return
	}
	p.heading(span{"New versions of charts", bold})
	for i, c := range all {
		if i == mostCharts && !p.opts.Verbose {
			p.line(blanks(2), span{"and " + outline.Count(len(all)-i, "more") + " (-v lists them)", plainStyle})
			return
		}
		p.block([]span{blanks(2), {outline.Place(&c.Location) + ": ", plainStyle}}, 4, plainStyle, c.Title)
		p.block([]span{blanks(4)}, 6, plainStyle, c.Changes)
		if c.Unread {
			p.block([]span{blanks(4)}, 6, green, outline.ChartUnread)
		}
	}
}

// diagnostics writes remarks in the style of compilers. It writes all errors and warnings,
// but only some notes, since a repository with old files has many.
func (p *printer) diagnostics(list []report.Diagnostic) {
	remarks := slices.DeleteFunc(outline.Remarks(list), func(r *outline.Remark) bool { return r.Untouched && !p.opts.Verbose && !p.existing() })
	if !p.opts.Verbose {
		remarks = outline.Notes(remarks)
	}
	if len(remarks) == 0 {
		return
	}
	p.heading(span{"Remarks", bold})
	notes, hidden := 0, 0
	for _, r := range remarks {
		if r.Severity == "note" {
			if notes == mostNotes && !p.opts.Verbose {
				hidden++
				continue
			}
			notes++
		}
		p.remark(r)
	}
	if hidden > 0 {
		p.line(blanks(2), span{"and " + outline.Count(hidden, "more note") + " (-v lists them)", plainStyle})
	}
}

func (p *printer) remark(r *outline.Remark) {
	lead := []span{blanks(2)}
	switch {
	case r.Location != nil:
		lead = append(lead, span{outline.Place(r.Location) + r.AndOthers() + ": ", plainStyle})
	case r.Root != "":
		lead = append(lead, span{"root " + escape.Text(r.Root) + r.AndOthers() + ": ", plainStyle})
	}
	if r.Location == nil && r.Root == "" && r.Others > 0 {
		lead = append(lead, span{fmt.Sprintf("%d: ", r.Others+1), plainStyle})
	}
	lead = append(lead, span{escape.Text(r.Severity) + ": ", severityStyle(r.Severity)})
	message := r.Message
	if roots := outline.RootList(r.Roots, r.Location, p.opts.Verbose); roots != "" && r.Location != nil {
		message += " (" + roots + ")"
	}
	if !p.opts.Verbose {
		message = escape.Clip(message, remarkRunes)
	}
	p.message(lead, 4, plainStyle, message, nil)
	if r.Original != "" && p.opts.Verbose {
		p.message([]span{blanks(4)}, 4, plainStyle, "error of kustomize: "+r.Original, nil)
	}
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

// resolved writes the findings that the change resolves, each in a line or two.
func (p *printer) resolved(findings []report.Finding) {
	begun := false
	for i := range findings {
		f := &findings[i]
		if f.Status != report.StatusResolved {
			continue
		}
		if !begun {
			p.heading(span{"Resolved", green})
			begun = true
		}
		text := outline.Place(&f.Location) + ": " + escape.Lines(f.Message)[0]
		if f.Policy != "" {
			text += " (" + escape.Text(f.Policy) + ")"
		}
		class := outline.ClassOf(f)
		p.block([]span{blanks(2), {string(class), classStyle(class)}, {" ", plainStyle}}, 4, plainStyle, text)
	}
}

// requests writes the requests that were judged, if Verbose.
func (p *printer) requests(list []report.Request) {
	if len(list) == 0 || !p.opts.Verbose {
		return
	}
	p.heading(span{"Requests", bold})
	for i := range list {
		q := &list[i]
		of := outline.ObjectName(q.Subject)
		if q.Generated != nil {
			of = outline.ObjectName(q.Generated) + " of " + of
		}
		answer, style := "not known", yellow
		if q.Allowed != nil {
			answer, style = "denied", red
			if *q.Allowed {
				answer, style = "allowed", green
			}
		}
		p.line(blanks(2), span{answer, style}, span{" " + escape.Text(q.Operation) + " " + of + serverOf(q), plainStyle})
	}
}

// serverOf describes the API server of a request, if there are several.
func serverOf(q *report.Request) string {
	var words []string
	if q.Target != "" {
		words = append(words, "target "+escape.Text(q.Target))
	}
	if q.Kubernetes != "" {
		words = append(words, escape.Text(q.Kubernetes))
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}
