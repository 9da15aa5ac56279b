package format

import (
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/report"
)

// mostRequests is the number of requests listed below an entry that repeats.
const mostRequests = 3

// details lists what a reader may want to know about an entry besides its message,
// one line each: what was asked, who decided, why it is not a plain verdict.
// labelled says that the field's name was already shown.
func (p *printer) details(e *entry, labelled bool) []string {
	var out []string
	if field := escape(e.Location.Field); field != "" && !labelled {
		out = append(out, "field "+field)
	}
	if chain := p.chain(e); chain != "" {
		out = append(out, chain)
	}
	out = append(out, p.requests(e)...)
	if note := generatedNote(e.Finding); note != "" {
		out = append(out, note)
	}
	if by := decidedBy(e.Finding); by != "" {
		out = append(out, by)
	}
	if note := causeNote(e.Finding); note != "" {
		out = append(out, note)
	}
	if p.opts.Verbose {
		out = append(out, verboseDetails(e.Finding)...)
	}
	return out
}

// requests lists the requests of an entry; a few of them unless Verbose.
func (p *printer) requests(e *entry) []string {
	out, more := e.requests(p.opts.Verbose)
	if more > 0 {
		out = append(out, "and "+count(more, "more request")+" (-v lists them)")
	}
	return out
}

// requests lists the requests of an entry and counts those it leaves out.
func (e *entry) requests(all bool) (list []string, more int) {
	if s := requestOf(e.Finding); s != "" {
		list = append(list, s)
	}
	for i, f := range e.also {
		if i+1 == mostRequests && len(e.also) > mostRequests && !all {
			return list, len(e.also) - i
		}
		list = append(list, requestOf(f))
	}
	return list, 0
}

// requestOf says what was asked, like "UPDATE Deployment shop/web, root prod".
func requestOf(f *report.Finding) string {
	var parts []string
	if ask := joinNonEmpty(" ", escape(f.Operation), objectName(f.Object)); ask != "" {
		parts = append(parts, ask)
	}
	if f.Root != "" {
		parts = append(parts, "root "+escape(f.Root))
	}
	return strings.Join(parts, ", ")
}

// objectName is like "Deployment shop/web".
func objectName(o *report.Object) string {
	if o == nil {
		return ""
	}
	name := o.Name
	if name == "" && o.GenerateName != "" {
		name = o.GenerateName + "*"
	}
	return joinNonEmpty(" ", escape(o.Kind), joinNonEmpty("/", escape(o.Namespace), escape(name)))
}

// decidedBy names policy, validation, binding and param.
func decidedBy(f *report.Finding) string {
	var parts []string
	if f.Policy != "" {
		parts = append(parts, "policy "+escape(f.Policy))
	}
	if f.Validation != nil {
		parts = append(parts, fmt.Sprintf("validations[%d]", *f.Validation))
	}
	if f.Binding != "" {
		parts = append(parts, "binding "+escape(f.Binding))
	}
	if f.Param != nil {
		parts = append(parts, "param "+joinNonEmpty("/", escape(f.Param.Namespace), escape(f.Param.Name)))
	}
	return strings.Join(parts, ", ")
}

// generatedNote says that not the object itself will be refused, but one that its
// controller creates of it.
func generatedNote(f *report.Finding) string {
	if f.Generated == nil {
		return ""
	}
	what := "the " + escape(f.Generated.Kind) + " it creates"
	switch f.Action {
	case report.ActionDeny:
		return what + " will be refused"
	case report.ActionWarn:
		return what + " will be warned about"
	}
	return what + " will be noted for audit"
}

// causeNote explains causes other than a validation that is false.
func causeNote(f *report.Finding) string {
	switch f.Cause {
	case report.CauseError:
		return "the expression could not be evaluated, and failurePolicy is Fail"
	case report.CauseConfiguration:
		return "the policy cannot be applied as it is configured"
	case report.CausePolicy:
		return "the API server would refuse this policy or binding; it has no effect"
	case report.CauseSchema:
		if f.Generated != nil {
			return "decided before any policy, by the API server itself"
		}
		return "decided before any policy: the object does not fit its schema"
	case report.CauseRender:
		return "the root does not render, so none of its objects could be judged"
	}
	return ""
}

func verboseDetails(f *report.Finding) []string {
	var out []string
	if f.Generated != nil {
		out = append(out, "what it creates is "+objectName(f.Generated))
	}
	if f.Expression != "" {
		out = append(out, "expression "+escape(strings.Join(strings.Fields(f.Expression), " ")))
	}
	if f.Reason != "" {
		out = append(out, "reason "+escape(f.Reason))
	}
	if len(f.Actions) > 1 {
		var names []string
		for _, a := range f.Actions {
			names = append(names, escape(string(a)))
		}
		out = append(out, "actions "+strings.Join(names, ", "))
	}
	if f.Definition != nil {
		out = append(out, "written in "+escape(definedAt(f.Definition)))
	}
	for i := range f.Location.Related {
		rel := &f.Location.Related[i]
		out = append(out, joinNonEmpty(": ", "see "+place(rel), escape(rel.Message)))
	}
	if !f.Location.Exact {
		out = append(out, "the place is the nearest one known, not proven")
	}
	if f.Fingerprint != "" {
		out = append(out, "fingerprint "+escape(f.Fingerprint))
	}
	return out
}

// place is path:line:column as far as known.
func place(l *report.Location) string {
	s := escape(l.Path)
	if l.StartLine > 0 {
		s += ":" + position(l)
	}
	if l.Tree == "base" {
		s += " (base)"
	}
	return s
}

// joinNonEmpty is strings.Join without the empty ones.
func joinNonEmpty(sep string, parts ...string) string {
	var out []string
	for _, s := range parts {
		if s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, sep)
}

// count is like "1 request" or "2 requests".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
