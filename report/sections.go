package report

import (
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/scanner"
)

// mostPlaces is the number of places listed below a reason that repeats.
const mostPlaces = 5

// unjudged is one reason and everything that could not be judged because of it.
type unjudged struct {
	why, policy string
	items       []*scanner.Indeterminate
}

// indeterminate lists what could not be judged, reason by reason: one missing CRD
// may leave fifty objects unjudged.
func (p *printer) indeterminate(list []scanner.Indeterminate) {
	if len(list) == 0 {
		return
	}
	p.heading(span{"Indeterminate", yellow}, span{": not judged, so not known to be allowed", plainStyle})
	type key struct{ what, why, policy string }
	var order []*unjudged
	groups := map[key]*unjudged{}
	for i := range list {
		n := &list[i]
		k := key{n.What, n.Why, n.Policy}
		if groups[k] == nil {
			groups[k] = &unjudged{why: n.Why, policy: n.Policy}
			order = append(order, groups[k])
		}
		groups[k].items = append(groups[k].items, n)
	}
	for _, g := range order {
		p.unjudged(g)
	}
}

func (p *printer) unjudged(g *unjudged) {
	p.line()
	why := g.why
	if g.policy != "" && !strings.Contains(why, g.policy) {
		why = "policy " + g.policy + ": " + why
	}
	p.message([]span{blanks(2)}, 2, bold, why)
	for i, n := range g.items {
		if i == mostPlaces && len(g.items) > mostPlaces+1 && !p.opts.Verbose {
			p.line(blanks(4), span{"- and " + fmt.Sprint(len(g.items)-i) + " more (-v lists them)", plainStyle})
			return
		}
		p.block([]span{blanks(4), {"- ", gutter}}, 6, plainStyle, subject(n))
	}
}

// subject says what could not be judged and where it is.
func subject(n *scanner.Indeterminate) string {
	var parts []string
	switch {
	case n.Object != nil:
		parts = append(parts, objectName(n.Object))
	case n.What == "policy" && n.Policy != "":
		parts = append(parts, "policy "+escape(n.Policy))
	case n.What != "root":
		parts = append(parts, escape(n.What))
	}
	if n.Root != "" {
		parts = append(parts, "root "+escape(n.Root))
	}
	s := strings.Join(parts, ", ")
	if n.Location != nil {
		s = joinNonEmpty(": ", place(n.Location), s)
	}
	return s
}

// diagnostics lists remarks, one a line as compilers do.
func (p *printer) diagnostics(list []scanner.Diagnostic) {
	if len(list) == 0 {
		return
	}
	p.heading(span{"Remarks", bold})
	p.line()
	for i := range list {
		d := &list[i]
		lead := []span{blanks(2)}
		if d.Location != nil {
			lead = append(lead, span{place(d.Location) + ": ", plainStyle})
		} else if d.Root != "" {
			lead = append(lead, span{"root " + escape(d.Root) + ": ", plainStyle})
		}
		lead = append(lead, span{escape(d.Severity) + ": ", severityStyle(d.Severity)})
		p.message(lead, 4, plainStyle, d.Message)
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

// resolved lists what the change makes better, one finding a line or two.
func (p *printer) resolved(findings []scanner.Finding) {
	begun := false
	for i := range findings {
		f := &findings[i]
		if f.Status != scanner.StatusResolved {
			continue
		}
		if !begun {
			p.heading(span{"Resolved", green}, span{" by this change", plainStyle})
			p.line()
			begun = true
		}
		text := place(&f.Location) + ": " + escapeLines(f.Message)[0]
		if f.Policy != "" {
			text += " (" + escape(f.Policy) + ")"
		}
		p.block([]span{blanks(2), {escape(string(f.Action)), actionStyle(f.Action)}, {" ", plainStyle}}, 4, plainStyle, text)
	}
}
