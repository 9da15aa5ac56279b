package format

import (
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/report"
)

// tally counts findings by action and status.
type tally map[report.Action]map[report.Status]int

func tallyOf(findings []report.Finding) tally {
	t := tally{}
	for i := range findings {
		f := &findings[i]
		if t[f.Action] == nil {
			t[f.Action] = map[report.Status]int{}
		}
		t[f.Action][f.Status]++
	}
	return t
}

// open counts the findings of an action that the change has: new and existing.
func (t tally) open(a report.Action) int {
	return t[a][report.StatusNew] + t[a][report.StatusExisting]
}

func (t tally) resolved() int {
	n := 0
	for _, byStatus := range t {
		n += byStatus[report.StatusResolved]
	}
	return n
}

// summary writes the last line, and with Verbose where the time went.
func (p *printer) summary(r *report.Report) {
	t := tallyOf(r.Findings)
	if p.begun {
		p.line()
	}
	p.block(nil, 2, summaryStyle(t, r), summaryText(t, r, p.compared))
	if !p.opts.Verbose {
		return
	}
	d := r.Summary.Durations
	p.block(nil, 2, dim, fmt.Sprintf("%s, %s; discover %s, render %s, judge %s, locate %s",
		policies(r.Summary.Policies), count(r.Summary.Evaluations, "evaluation"),
		inSeconds(d.Discover), inSeconds(d.Render), inSeconds(d.Judge), inSeconds(d.Locate)))
	p.block(nil, 2, dim, madeBy(r))
}

// summaryText is like "3 denied (2 new, 1 existing), 1 warning, 4 indeterminate in
// 12 roots, 57 requests, 0.42s".
func summaryText(t tally, r *report.Report, compared bool) string {
	return fmt.Sprintf("%s in %s, %s, %s", outcomeText(t, r, compared), rootsText(r.Summary.Roots),
		count(r.Summary.Requests, "request"), inSeconds(r.Summary.Durations.Total))
}

// outcomeText is the part of it about findings and what was not judged.
func outcomeText(t tally, r *report.Report, compared bool) string {
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
	denied, warned, audited := t.open(report.ActionDeny), t.open(report.ActionWarn), t.open(report.ActionAudit)
	add(denied, fmt.Sprintf("%d denied", denied), report.ActionDeny)
	add(warned, count(warned, "warning"), report.ActionWarn)
	add(audited, count(audited, "audit note"), report.ActionAudit)
	add(t.resolved(), fmt.Sprintf("%d resolved", t.resolved()), "")
	if len(parts) == 0 {
		parts = append(parts, "no findings")
	}
	if left, untouched := touched(r.Indeterminate); len(left)+untouched > 0 {
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

// rootsText accounts for every root; those that did not render are told apart.
func rootsText(c report.RootCounts) string {
	var not []string
	for _, n := range []struct {
		n    int
		what string
	}{{c.Untouched, "untouched"}, {c.Failed, "failed"}, {c.FailedBefore, "failed before"}, {c.Indeterminate, "not rendered"}} {
		if n.n > 0 {
			not = append(not, fmt.Sprintf("%d %s", n.n, n.what))
		}
	}
	text := count(c.Rendered+c.Untouched+c.Failed+c.FailedBefore+c.Indeterminate, "root")
	if len(not) > 0 {
		text += " (" + strings.Join(not, ", ") + ")"
	}
	return text
}

// summaryStyle is the colour of the worst that the summary tells.
func summaryStyle(t tally, r *report.Report) style {
	switch {
	case t.open(report.ActionDeny) > 0 || r.Summary.Roots.Failed > 0:
		return red
	case t.open(report.ActionWarn) > 0 || len(r.Indeterminate) > 0:
		return yellow
	case t.open(report.ActionAudit) > 0:
		return blue
	}
	return green
}

func policies(n int) string {
	if n == 1 {
		return "1 policy"
	}
	return fmt.Sprintf("%d policies", n)
}

// madeBy says by what and of what the report is.
func madeBy(r *report.Report) string {
	s := escape(joinNonEmpty(" ", r.Tool.Name, r.Tool.Version))
	if r.Tool.Kubernetes != "" {
		s += ", as Kubernetes " + escape(r.Tool.Kubernetes)
	}
	if r.Change.Base != nil {
		return s + ": " + revision(*r.Change.Base) + " to " + revision(r.Change.Head)
	}
	return s + ": " + revision(r.Change.Head)
}

// revision is the name the user gave, with the start of the commit it stands for.
func revision(r report.Revision) string {
	commit := escape(r.Commit)
	if commit == "" || strings.HasPrefix(r.Commit, r.Name) && r.Name != "" {
		return escape(r.Name)
	}
	return escape(r.Name) + " (" + clipCommit(commit) + ")"
}

func clipCommit(commit string) string { return commit[:min(len(commit), 12)] }

func inSeconds(s float64) string { return fmt.Sprintf("%.2fs", s) }
