package outline

import (
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/report"
)

// Join is strings.Join without the empty ones.
func Join(sep string, parts ...string) string {
	var out []string
	for _, s := range parts {
		if s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, sep)
}

// Count is like "1 request" or "2 requests".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Tally counts findings by action and status.
type Tally map[report.Action]map[report.Status]int

func TallyOf(findings []report.Finding) Tally {
	t := Tally{}
	for i := range findings {
		f := &findings[i]
		if t[f.Action] == nil {
			t[f.Action] = map[report.Status]int{}
		}
		t[f.Action][f.Status]++
	}
	return t
}

// Open counts the findings of an action that the change has: new and existing.
func (t Tally) Open(a report.Action) int {
	return t[a][report.StatusNew] + t[a][report.StatusExisting]
}

func (t Tally) resolved() int {
	n := 0
	for _, byStatus := range t {
		n += byStatus[report.StatusResolved]
	}
	return n
}

// Summary is like "3 denied (2 new, 1 existing), 1 warning, 4 indeterminate in
// 12 roots, 57 requests, 0.42s".
func Summary(t Tally, r *report.Report, compared bool) string {
	return fmt.Sprintf("%s in %s, %s, %s", Outcome(t, r, compared), RootsText(r.Summary.Roots),
		Count(r.Summary.Requests, "request"), InSeconds(r.Summary.Durations.Total))
}

// Outcome is the part of it about findings and what was not judged.
func Outcome(t Tally, r *report.Report, compared bool) string {
	var parts []string
	add := func(n int, words string, a report.Action) {
		if n == 0 {
			return
		}
		if compared && a != "" {
			words += byStatus(t[a])
		}
		parts = append(parts, words)
	}
	denied, warned, audited := t.Open(report.ActionDeny), t.Open(report.ActionWarn), t.Open(report.ActionAudit)
	add(denied, fmt.Sprintf("%d denied", denied), report.ActionDeny)
	add(warned, Count(warned, "warning"), report.ActionWarn)
	add(audited, Count(audited, "audit note"), report.ActionAudit)
	add(t.resolved(), fmt.Sprintf("%d resolved", t.resolved()), "")
	if len(parts) == 0 {
		parts = append(parts, "no findings")
	}
	if left, untouched := Touched(r.Indeterminate); len(left)+untouched > 0 {
		parts = append(parts, indeterminateText(len(left), untouched))
	}
	return strings.Join(parts, ", ")
}

// indeterminateText counts what the change touches apart from the rest.
func indeterminateText(touched, untouched int) string {
	switch {
	case untouched == 0:
		return fmt.Sprintf("%d indeterminate", touched)
	case touched == 0:
		return fmt.Sprintf("%d indeterminate (none touched)", untouched)
	}
	return fmt.Sprintf("%d indeterminate (%d touched)", touched+untouched, touched)
}

func byStatus(counts map[report.Status]int) string {
	var parts []string
	for _, s := range []report.Status{report.StatusNew, report.StatusExisting} {
		if counts[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[s], s))
		}
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// RootsText accounts for every root; those that did not render are counted apart.
func RootsText(c report.RootCounts) string {
	var not []string
	for _, n := range []struct {
		n    int
		what string
	}{{c.Untouched, "untouched"}, {c.Failed, "failed"}, {c.FailedBefore, "failed before"}, {c.Indeterminate, "not rendered"}} {
		if n.n > 0 {
			not = append(not, fmt.Sprintf("%d %s", n.n, n.what))
		}
	}
	text := Count(c.Rendered+c.Untouched+c.Failed+c.FailedBefore+c.Indeterminate, "root")
	if len(not) > 0 {
		text += " (" + strings.Join(not, ", ") + ")"
	}
	return text
}

// Worst is the action that stands for the worst in a report: denials and roots that do
// not render, warnings and what could not be judged, audit notes. It is empty when there
// is nothing.
func Worst(r *report.Report) report.Action {
	t := TallyOf(r.Findings)
	switch {
	case t.Open(report.ActionDeny) > 0 || r.Summary.Roots.Failed > 0:
		return report.ActionDeny
	case t.Open(report.ActionWarn) > 0 || len(r.Indeterminate) > 0:
		return report.ActionWarn
	case t.Open(report.ActionAudit) > 0:
		return report.ActionAudit
	}
	return ""
}

func Policies(n int) string {
	if n == 1 {
		return "1 policy"
	}
	return fmt.Sprintf("%d policies", n)
}

func InSeconds(s float64) string { return fmt.Sprintf("%.2fs", s) }
