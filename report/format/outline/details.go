package outline

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
)

// mostRequests is the maximum number of requests, roots or places listed below an entry.
const mostRequests = 3

// Details returns details of an entry besides its message, one line each: the request, the
// policy that decided it, notes on its cause. labelled means that the field's name was
// already shown.
func (e *Entry) Details(labelled, verbose bool) []string {
	var out []string
	if field := escape.Text(e.Location.Field); field != "" && !labelled {
		out = append(out, "field "+field)
	}
	if chain := e.Chain(verbose); chain != "" {
		out = append(out, chain)
	}
	out = append(out, e.Places(verbose)...)
	if roots := e.failedRoots(verbose); roots != "" {
		out = append(out, roots)
	} else {
		out = append(out, e.decided(verbose)...)
	}
	if versions := WithKubernetes(e.Finding); versions != "" {
		out = append(out, versions)
	}
	if verbose {
		out = append(out, VerboseDetails(e.Finding)...)
	}
	return out
}

// Places returns the messages of the locations of an entry: the part of a chart that writes the
// field. They come from all findings of the entry; without all, only a few are returned.
func (e *Entry) Places(all bool) []string {
	var out []string
	more := 0
	for _, f := range append([]*report.Finding{e.Finding}, e.Also...) {
		switch text := escape.Text(f.Location.Message); {
		case text == "" || slices.Contains(out, text):
		case len(out) == mostRequests && !all:
			more++
		default:
			out = append(out, text)
		}
	}
	if more > 0 {
		out = append(out, "and in "+Count(more, "more place"))
	}
	return out
}

// decided returns the requests, what decided them, and notes on the cause.
func (e *Entry) decided(verbose bool) []string {
	if e.refusesObject() && len(e.Also)+len(e.Elsewhere) == 0 && e.Root == path.Dir(e.Location.Path) {
		return []string{Join(" ", escape.Text(e.Operation), ObjectName(e.Object)), CauseNote(e.Finding)}
	}
	out := append(e.someRequests(verbose), e.someElsewhere(verbose)...)
	if note := GeneratedNote(e.Finding); note != "" {
		out = append(out, note)
	}
	if by := DecidedBy(e.Finding); by != "" && !e.refusesObject() {
		out = append(out, by)
	}
	if note := CauseNote(e.Finding); note != "" {
		out = append(out, note)
	}
	return out
}

// refusesObject reports whether the object of an entry is itself the policy that is refused.
func (e *Entry) refusesObject() bool {
	return e.Cause == report.CausePolicy && e.Object != nil && e.Object.Name == e.Policy && e.Validation == nil && e.Binding == ""
}

// failedRoots returns a line with the roots that do not render because of an entry; without
// all, it may name only one of many. It returns "" if the entry is about something else, or
// about only one root.
func (e *Entry) failedRoots(all bool) string {
	if e.Cause != report.CauseRender || len(e.Also) == 0 || len(e.Elsewhere) > 0 {
		return ""
	}
	var roots []string
	for _, f := range append([]*report.Finding{e.Finding}, e.Also...) {
		if f.Operation != "" || f.Object != nil || f.Root == "" {
			return ""
		}
		roots = append(roots, escape.Text(f.Root))
	}
	named := strings.Join(roots, ", ")
	if more := len(roots) - mostRequests; more > 1 && !all {
		named = fmt.Sprintf("for example %s (-v lists them)", roots[0])
	}
	return fmt.Sprintf("%d roots do not render, so none of their objects could be judged: %s", len(roots), named)
}

// someElsewhere returns the entries with the same finding at other places; without all, only
// a few.
func (e *Entry) someElsewhere(all bool) []string {
	var out []string
	for i, other := range e.Elsewhere {
		if i == mostRequests && len(e.Elsewhere) > mostRequests+1 && !all {
			return append(out, "and at "+Count(len(e.Elsewhere)-i, "more place")+" (-v lists them)")
		}
		out = append(out, "also "+other.There())
	}
	return out
}

// There returns the place of an entry and its request.
func (e *Entry) There() string {
	text := Join(": ", Place(&e.Location), Request(e.Finding))
	if n := len(e.Also); n > 0 {
		text += ", and " + Count(n, "more request")
	}
	return text
}

// someRequests returns the requests of an entry; without all, only a few.
func (e *Entry) someRequests(all bool) []string {
	out, more := e.Requests(all)
	if more > 0 {
		out = append(out, fmt.Sprintf("and %d more (-v lists them)", more))
	}
	return out
}

// Requests returns the requests of an entry, and the number of those left out.
func (e *Entry) Requests(all bool) (list []string, more int) {
	if s := Request(e.Finding); s != "" {
		list = append(list, s)
	}
	for i, f := range e.Also {
		if i+1 == mostRequests && len(e.Also) > mostRequests && !all {
			return list, len(e.Also) - i
		}
		list = append(list, Request(f))
	}
	return list, 0
}

// Request returns the request of a finding, like "UPDATE Deployment shop/web, root prod".
func Request(f *report.Finding) string {
	var parts []string
	if ask := Join(" ", escape.Text(f.Operation), ObjectName(f.Object)); ask != "" {
		parts = append(parts, ask)
	}
	if f.Root != "" {
		parts = append(parts, "root "+escape.Text(f.Root))
	}
	return strings.Join(parts, ", ")
}

// ObjectName returns a name like "Deployment shop/web".
func ObjectName(o *report.Object) string {
	if o == nil {
		return ""
	}
	name := o.Name
	switch {
	case name == "" && o.GenerateName != "":
		name = o.GenerateName + "*"
	case name == "" && o.Namespace != "": // the namespace alone would be read as the name
		name = "(no name)"
	}
	return Join(" ", escape.Text(o.Kind), Join("/", escape.Text(o.Namespace), escape.Text(name)))
}

// DecidedBy returns the policy, validation, binding and param of a finding.
func DecidedBy(f *report.Finding) string {
	var parts []string
	if f.Policy != "" {
		parts = append(parts, "policy "+escape.Text(f.Policy))
	}
	if f.Validation != nil {
		parts = append(parts, fmt.Sprintf("validations[%d]", *f.Validation))
	}
	if f.Binding != "" {
		parts = append(parts, "binding "+escape.Text(f.Binding))
	}
	if f.Param != nil {
		parts = append(parts, "param "+Join("/", escape.Text(f.Param.Namespace), escape.Text(f.Param.Name)))
	}
	return strings.Join(parts, ", ")
}

// WithKubernetes returns the versions of Kubernetes that a finding is of, "" if only one was used.
func WithKubernetes(f *report.Finding) string {
	if len(f.Kubernetes) == 0 {
		return ""
	}
	return "with Kubernetes " + escape.Text(strings.Join(f.Kubernetes, ", "))
}

// About returns the request of a finding without its root, the object that a controller creates, and
// the versions of Kubernetes, like "CREATE Deployment shop/web, the Pod it creates will be denied".
func About(f *report.Finding) string {
	request := Join(" ", escape.Text(f.Operation), ObjectName(f.Object))
	return Join(", ", request, GeneratedNote(f), WithKubernetes(f))
}

// GeneratedNote returns a note that the finding is not on the object itself, but on one that
// its controller creates for it.
func GeneratedNote(f *report.Finding) string {
	if f.Generated == nil {
		return ""
	}
	what := "the " + escape.Text(f.Generated.Kind) + " it creates"
	switch ClassOf(f) {
	case Denied:
		return what + " will be denied"
	case WouldBeDenied:
		return what + " would be denied"
	case Warning:
		return what + " will be let pass with a warning"
	}
	return what + " will be audited"
}

// CauseNote explains the cause of a finding, if it is not a validation that is false.
func CauseNote(f *report.Finding) string {
	switch f.Cause {
	case report.CauseError:
		return "the expression could not be evaluated, and failurePolicy is Fail"
	case report.CauseConfiguration:
		return "the policy cannot be applied as it is configured"
	case report.CausePolicy:
		return "the API server would refuse this policy or binding; it has no effect"
	case report.CauseSchema:
		return "decided by the API server itself, not by a policy"
	case report.CauseProject:
		return "Argo CD does not apply it: its AppProject does not permit it"
	case report.CauseRender:
		return "the root does not render, so none of its objects could be judged"
	}
	return ""
}

func VerboseDetails(f *report.Finding) []string {
	var out []string
	if f.Generated != nil {
		out = append(out, "what it creates is "+ObjectName(f.Generated))
	}
	if f.Expression != "" {
		out = append(out, "expression "+escape.Text(strings.Join(strings.Fields(f.Expression), " ")))
	}
	if f.Reason != "" {
		out = append(out, "reason "+escape.Text(f.Reason))
	}
	if len(f.Actions) > 1 {
		var names []string
		for _, a := range f.Actions {
			names = append(names, escape.Text(string(a)))
		}
		out = append(out, "actions "+strings.Join(names, ", "))
	}
	if f.Definition != nil {
		out = append(out, "written in "+escape.Text(DefinedAt(f.Definition)))
	}
	for i := range f.Location.Related {
		rel := &f.Location.Related[i]
		out = append(out, Join(": ", "see "+Place(rel), escape.Text(rel.Message)))
	}
	if !f.Location.Exact {
		out = append(out, "the place is the nearest one known, not proven")
	}
	if f.Original != "" {
		out = append(out, "error of kustomize: "+escape.Text(f.Original))
	}
	if f.Fingerprint != "" {
		out = append(out, "fingerprint "+escape.Text(f.Fingerprint))
	}
	return out
}
