package upgrade

import (
	"regexp"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report"
)

// mark sets the status of the second version's findings for the same targets by comparing them with those of
// the first version.
func mark(from, out *report.Report) {
	before, after := timeless(from), timeless(out)
	said := map[string]bool{}
	for i := range before.Findings {
		said[keyOf(&before.Findings[i])] = true
	}
	for i := range out.Indeterminate {
		out.Indeterminate[i].Untouched = slices.ContainsFunc(before.Indeterminate, func(b report.Indeterminate) bool {
			return sameGap(&b, &after.Indeterminate[i])
		})
	}
	still, refused := map[string]bool{}, refusals(before.Findings)
	open := openOf(out)
	for i := range out.Findings {
		f := &after.Findings[i]
		still[keyOf(f)] = true
		if out.Findings[i].Cause == report.CauseRender {
			continue // nothing is known of a root that does not render
		}
		if said[keyOf(f)] || refused.cover(f) {
			out.Findings[i].Status = report.StatusExisting
		}
	}
	for i := range before.Findings {
		if f := &before.Findings[i]; !still[keyOf(f)] && !open.has(f) {
			gone := from.Findings[i]
			gone.Status = report.StatusResolved
			out.Findings = append(out.Findings, gone)
		}
	}
	for i := range out.Diagnostics {
		d := &after.Diagnostics[i]
		out.Diagnostics[i].Untouched = slices.ContainsFunc(before.Diagnostics, func(b report.Diagnostic) bool {
			return b.Message == d.Message && b.Root == d.Root && samePlace(b.Location, d.Location)
		})
	}
}

// subject is what a finding is about: an object of a root, or an object that is created for it.
type subject struct {
	root      string
	object    report.Object
	generated string
}

func subjectOf(f *report.Finding) subject {
	s := subject{root: f.Root}
	if f.Object != nil {
		s.object = *f.Object
	}
	if f.Generated != nil {
		s.generated = f.Generated.Kind
	}
	return s
}

// isRefusal reports whether a finding is a refusal by the API server itself.
func isRefusal(f *report.Finding) bool {
	return f.Action == report.ActionDeny && (f.Cause == report.CauseSchema || f.Cause == report.CausePolicy)
}

// refused has the errors for which the API server refuses objects.
type refused map[subject][]string

func refusals(findings []report.Finding) refused {
	all := refused{}
	for i := range findings {
		if f := &findings[i]; isRefusal(f) {
			all[subjectOf(f)] = append(all[subjectOf(f)], errorsOf(f)...)
		}
	}
	return all
}

// cover reports whether a finding is a refusal that has no other errors than these.
func (r refused) cover(f *report.Finding) bool {
	errs := errorsOf(f)
	return isRefusal(f) && len(errs) > 0 && !slices.ContainsFunc(errs, func(e string) bool {
		return !slices.Contains(r[subjectOf(f)], e)
	})
}

// errorsOf returns the errors in the message of an invalid object; nil for other messages.
func errorsOf(f *report.Finding) []string {
	_, errs, ok := strings.Cut(f.Message, " is invalid: ")
	if !ok {
		return nil
	}
	if list, ok := strings.CutPrefix(errs, "["); ok {
		errs = strings.TrimSuffix(list, "]")
	}
	return strings.Split(errs, ", ")
}

// open is what is not known for the second version: whether what the first version has no longer holds.
type open struct {
	refused map[subject]bool
	// roots are those that do not render, or are not judged.
	roots map[string]bool
	gaps  []report.Indeterminate
}

// openOf returns what is not known of a report whose entries are compared with those of the first version.
func openOf(r *report.Report) *open {
	o := &open{refused: map[subject]bool{}, roots: map[string]bool{}}
	for i := range r.Findings {
		switch f := &r.Findings[i]; {
		case f.Cause == report.CauseRender:
			o.roots[f.Root] = true
		case isRefusal(f):
			o.refused[subjectOf(f)] = true
		}
	}
	for _, gap := range r.Indeterminate {
		switch {
		case gap.Object != nil && (gap.Policy != "" || !gap.Untouched):
			o.gaps = append(o.gaps, gap)
		case gap.Object == nil && gap.What == "root":
			o.roots[gap.Root] = true
		}
	}
	return o
}

// has reports whether it is not known if the second version has a finding of the first one. Policies do not
// judge what the API server refuses.
func (o *open) has(f *report.Finding) bool {
	of := subjectOf(f)
	created := of
	of.generated = ""
	return o.roots[f.Root] || o.refused[of] || o.refused[created] || slices.ContainsFunc(o.gaps, func(gap report.Indeterminate) bool {
		return gap.Root == of.root && *gap.Object == of.object && (gap.Policy == "" || gap.Policy == f.Policy)
	})
}

// unserved matches messages that a kind is not served. Each version suggests a different replacement, which is
// removed before comparing.
var unserved = regexp.MustCompile(`((?:^no matches for kind "[^"]*" in version "[^"]*")|(?: does not serve \S+ \w+))[:;] .*`)

// timeless returns the compared parts of a report, without names of its version and of what it serves in
// texts.
func timeless(r *report.Report) *report.Report {
	versions := []string{}
	for _, s := range serversOf(r) {
		versions = append(versions, "Kubernetes "+s.Version, "Kubernetes")
	}
	replacer := strings.NewReplacer(versions...)
	strip := func(text string) string { return unserved.ReplaceAllString(replacer.Replace(text), "$1") }
	out := &report.Report{
		Findings: slices.Clone(r.Findings), Indeterminate: slices.Clone(r.Indeterminate), Diagnostics: slices.Clone(r.Diagnostics),
	}
	for i := range out.Findings {
		out.Findings[i].Message = strip(out.Findings[i].Message)
	}
	report.SetFingerprints(out.Findings)
	for i := range out.Indeterminate {
		out.Indeterminate[i].Why = strip(out.Indeterminate[i].Why)
	}
	for i := range out.Diagnostics {
		out.Diagnostics[i].Message = strip(out.Diagnostics[i].Message)
	}
	return out
}

// keyOf returns the part of a finding that is equal in both versions if it is the same finding: its
// fingerprint and its action.
func keyOf(f *report.Finding) string { return f.Fingerprint + " " + string(f.Action) }

func sameGap(a, b *report.Indeterminate) bool {
	sameObject := a.Object == b.Object || a.Object != nil && b.Object != nil && *a.Object == *b.Object
	return sameObject && a.What == b.What && a.Why == b.Why && a.Policy == b.Policy && a.Root == b.Root && samePlace(a.Location, b.Location)
}

func samePlace(a, b *report.Location) bool {
	return a == b || a != nil && b != nil && a.Path == b.Path && a.StartLine == b.StartLine
}
