package format

import (
	"fmt"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report"
)

// How much of what is not a finding is shown unless Verbose: in a large repository
// hundreds of roots may need a network, and the findings must stay in sight.
const (
	mostReasons = 8
	mostPlaces  = 3
	mostRemarks = 5
)

// unjudged is one reason and the places where something could not be judged because
// of it.
type unjudged struct {
	why    string
	places []*placed
}

// placed is what could not be judged at one place.
type placed struct {
	items []*report.Indeterminate
}

// indeterminate lists what could not be judged, reason by reason: one missing CRD
// may leave fifty objects unjudged.
func (p *printer) indeterminate(list []report.Indeterminate) {
	if len(list) == 0 {
		return
	}
	p.heading(span{"Indeterminate", yellow}, span{": not judged, so not known to be allowed", plainStyle})
	untouched := 0
	if !p.opts.Verbose {
		list, untouched = touched(list)
	}
	defer p.untouched(untouched)
	reasons := reasonsOf(list)
	for i, u := range reasons {
		p.line()
		if i == mostReasons && len(reasons) > mostReasons+1 && !p.opts.Verbose {
			n := 0
			for _, rest := range reasons[i:] {
				n += rest.count()
			}
			p.line(blanks(2), span{fmt.Sprintf("and %s, %d indeterminate (-v lists them)", count(len(reasons)-i, "more reason"), n), plainStyle})
			return
		}
		p.unjudged(u)
	}
}

// touched leaves out what the change does not touch, and counts it: in a repository
// with remote bases that is nearly all, at every change.
func touched(list []report.Indeterminate) (left []report.Indeterminate, untouched int) {
	for _, n := range list {
		if n.Untouched {
			untouched++
			continue
		}
		left = append(left, n)
	}
	return left, untouched
}

func (p *printer) untouched(n int) {
	if n > 0 {
		p.line()
		p.line(blanks(2), span{fmt.Sprintf("%d that the change does not touch (-v lists them)", n), plainStyle})
	}
}

// reasonsOf groups by reason and place, in the order of the report.
func reasonsOf(list []report.Indeterminate) []*unjudged {
	type spot struct{ why, place, object string }
	var order []*unjudged
	reasons := map[string]*unjudged{}
	places := map[spot]*placed{}
	for i := range list {
		n := &list[i]
		why := n.Why
		if n.Policy != "" && !strings.Contains(why, n.Policy) {
			why = "policy " + n.Policy + ": " + why
		}
		u := reasons[why]
		if u == nil {
			u = &unjudged{why: why}
			reasons[why], order = u, append(order, u)
		}
		at := spot{why: why, object: objectName(n.Object)}
		if n.Location != nil {
			at.place = place(n.Location)
		}
		pl := places[at]
		if pl == nil || at.place == "" {
			pl = &placed{}
			places[at], u.places = pl, append(u.places, pl)
		}
		pl.items = append(pl.items, n)
	}
	return order
}

func (u *unjudged) count() int {
	n := 0
	for _, pl := range u.places {
		n += len(pl.items)
	}
	return n
}

func (p *printer) unjudged(u *unjudged) {
	p.message([]span{blanks(2)}, 2, bold, u.why)
	for i, pl := range u.places {
		if i == mostPlaces && len(u.places) > mostPlaces+1 && !p.opts.Verbose {
			p.line(blanks(4), span{fmt.Sprintf("- and %s (-v lists them)", count(len(u.places)-i, "more place")), plainStyle})
			return
		}
		p.block([]span{blanks(4), {"- ", gutter}}, 6, plainStyle, p.subject(pl))
	}
}

// subject says where something could not be judged, and what it is as far as the
// place does not tell.
func (p *printer) subject(pl *placed) string {
	first := pl.items[0]
	var at, what string
	if first.Location != nil {
		at = place(first.Location)
	}
	switch {
	case first.Object != nil:
		what = objectName(first.Object)
	case first.What == "policy" && first.Policy != "":
		what = "policy " + escape(first.Policy)
	case first.What != "root":
		what = escape(first.What)
	}
	var roots []string
	for _, n := range pl.items {
		if n.Root != "" && !slices.Contains(roots, escape(n.Root)) {
			roots = append(roots, escape(n.Root))
		}
	}
	return joinNonEmpty(": ", at, joinNonEmpty(", ", what, p.rootList(roots, first.Location)))
}

// rootList names roots; a single one only if the path does not tell it, many only
// if Verbose.
func (p *printer) rootList(roots []string, at *report.Location) string {
	switch {
	case len(roots) == 0 || len(roots) == 1 && at != nil && inDirectory(at.Path, roots[0]):
		return ""
	case len(roots) == 1:
		return "root " + roots[0]
	case len(roots) > mostPlaces && !p.opts.Verbose:
		return count(len(roots), "root")
	}
	return "roots " + strings.Join(roots, ", ")
}

func inDirectory(path, dir string) bool {
	return dir == "." || strings.HasPrefix(escape(path), dir+"/")
}

// remark is a diagnostic and the roots it was made for.
type remark struct {
	*report.Diagnostic
	roots []string
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
	for _, r := range remarksOf(list) {
		if shown >= mostRemarks && r.Severity == "note" && !p.opts.Verbose {
			hidden++
			continue
		}
		p.remark(r)
		shown++
	}
	if hidden > 0 {
		p.line(blanks(2), span{"and " + count(hidden, "more note") + " (-v lists them)", plainStyle})
	}
}

// remarksOf merges diagnostics that say the same of one place.
func remarksOf(list []report.Diagnostic) []*remark {
	type key struct{ severity, message, place string }
	var order []*remark
	seen := map[key]*remark{}
	for i := range list {
		d := &list[i]
		k := key{severity: d.Severity, message: d.Message}
		if d.Location != nil {
			k.place = place(d.Location)
		}
		r := seen[k]
		if r == nil || k.place == "" {
			r = &remark{Diagnostic: d}
			seen[k], order = r, append(order, r)
		}
		if d.Root != "" && !slices.Contains(r.roots, escape(d.Root)) {
			r.roots = append(r.roots, escape(d.Root))
		}
	}
	return order
}

func (p *printer) remark(r *remark) {
	lead := []span{blanks(2)}
	switch {
	case r.Location != nil:
		lead = append(lead, span{place(r.Location) + ": ", plainStyle})
	case r.Root != "":
		lead = append(lead, span{"root " + escape(r.Root) + ": ", plainStyle})
	}
	lead = append(lead, span{escape(r.Severity) + ": ", severityStyle(r.Severity)})
	message := r.Message
	if roots := p.rootList(r.roots, r.Location); roots != "" && r.Location != nil {
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
		text := place(&f.Location) + ": " + escapeLines(f.Message)[0]
		if f.Policy != "" {
			text += " (" + escape(f.Policy) + ")"
		}
		p.block([]span{blanks(2), {escape(string(f.Action)), actionStyle(f.Action)}, {" ", plainStyle}}, 4, plainStyle, text)
	}
}
