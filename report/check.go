package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// maxLine bounds lines and columns, so that sums of them do not overflow; maxCount does the same for counts.
const (
	maxLine  = 1 << 30
	maxCount = 1 << 30
)

// check returns an error for the first value in a decoded report that its type does not allow.
func check(r *Report) error {
	for i := range r.Findings {
		if err := checkFinding(&r.Findings[i]); err != nil {
			return fmt.Errorf("findings[%d].%w", i, err)
		}
	}
	if err := cmp.Or(checkChanges(r.Changes), checkCharts(r.Charts), checkSummary(&r.Summary)); err != nil {
		return err
	}
	return checkRemarks(r.Indeterminate, r.Diagnostics)
}

// checkLint is check for a report of lint.
func checkLint(r *LintReport) error {
	for i := range r.Findings {
		f := &r.Findings[i]
		err := oneOf("severity", f.Severity, Severities()...)
		if err == nil {
			err = oneOf("rule", f.Rule, LintRuleIDs()...)
		}
		if err == nil {
			err = checkLocation(&f.Location)
		}
		if err != nil {
			return fmt.Errorf("findings[%d].%w", i, err)
		}
	}
	if err := checkLintSummary(&r.Summary); err != nil {
		return err
	}
	return checkRemarks(r.Indeterminate, r.Diagnostics)
}

func checkRemarks(indeterminate []Indeterminate, diagnostics []Diagnostic) error {
	for i := range indeterminate {
		if l := indeterminate[i].Location; l != nil {
			if err := checkLocation(l); err != nil {
				return fmt.Errorf("indeterminate[%d].location.%w", i, err)
			}
		}
	}
	for i, d := range diagnostics {
		if err := oneOf("severity", d.Severity, "error", "warning", "note"); err != nil {
			return fmt.Errorf("diagnostics[%d].%w", i, err)
		}
		if d.Location != nil {
			if err := checkLocation(d.Location); err != nil {
				return fmt.Errorf("diagnostics[%d].location.%w", i, err)
			}
		}
	}
	return nil
}

func checkFinding(f *Finding) error {
	if err := oneOf("status", f.Status, Statuses()...); err != nil {
		return err
	}
	if err := oneOf("action", f.Action, Actions()...); err != nil {
		return err
	}
	for i, a := range f.Actions {
		if err := oneOf(fmt.Sprintf("actions[%d]", i), a, Actions()...); err != nil {
			return err
		}
	}
	if err := oneOf("cause", f.Cause, Causes()...); err != nil {
		return err
	}
	if err := oneOf("policies", f.Policies, "", PoliciesInForce, PoliciesProposed); err != nil {
		return err
	}
	if f.Validation != nil && *f.Validation < 0 {
		return fmt.Errorf("validation: %d is negative", *f.Validation)
	}
	if d := f.Definition; d != nil && (d.StartLine < 0 || d.StartLine > maxLine) {
		return fmt.Errorf("definition: line %d is beyond any file", d.StartLine)
	}
	if err := checkLocation(&f.Location); err != nil {
		return fmt.Errorf("location.%w", err)
	}
	return nil
}

// counts are counts in a report by the paths of their fields.
type counts map[string]int

// check returns an error for the first count that no scan writes.
func (c counts) check() error {
	for _, field := range slices.Sorted(maps.Keys(c)) {
		if n := c[field]; n < 0 || n > maxCount {
			return fmt.Errorf("%s: %d is no count", field, n)
		}
	}
	return nil
}

func (c counts) addRoots(r *RootCounts) {
	maps.Copy(c, counts{
		"summary.roots.rendered": r.Rendered, "summary.roots.failed": r.Failed, "summary.roots.failedBefore": r.FailedBefore,
		"summary.roots.indeterminate": r.Indeterminate, "summary.roots.lost": r.Lost, "summary.roots.untouched": r.Untouched,
	})
}

// checkSummary returns an error for the first invalid count in a decoded summary.
func checkSummary(s *Summary) error {
	all := counts{
		"summary.requests": s.Requests, "summary.evaluations": s.Evaluations,
		"summary.policies": s.Policies, "summary.bindings": s.Bindings,
	}
	all.addRoots(&s.Roots)
	for action, of := range s.Findings {
		if err := oneOf("summary.findings", action, Actions()...); err != nil {
			return err
		}
		for status, n := range of {
			if err := oneOf("summary.findings."+string(action), status, Statuses()...); err != nil {
				return err
			}
			all["summary.findings."+string(action)+"."+string(status)] = n
		}
	}
	if c := s.Coverage; c != nil {
		all["summary.coverage.objects"], all["summary.coverage.exact"] = c.Objects, c.Exact
		for i, u := range c.Unknown {
			all[fmt.Sprintf("summary.coverage.unknown[%d]", i)] = u.Objects
		}
	}
	for i, k := range s.Kubernetes {
		all[fmt.Sprintf("summary.kubernetes[%d].requests", i)] = k.Requests
	}
	return all.check()
}

// checkLintSummary is checkSummary for a report of lint.
func checkLintSummary(s *LintSummary) error {
	all := counts{"summary.policies": s.Policies, "summary.bindings": s.Bindings}
	all.addRoots(&s.Roots)
	for severity, n := range s.Findings {
		if err := oneOf("summary.findings", severity, Severities()...); err != nil {
			return err
		}
		all["summary.findings."+string(severity)] = n
	}
	return all.check()
}

func checkLocation(l *Location) error {
	for _, n := range []int{l.StartLine, l.StartColumn, l.EndLine, l.EndColumn, l.SnippetLine} {
		if n < 0 {
			return fmt.Errorf("path %q: line or column %d is negative", l.Path, n)
		}
		if n > maxLine {
			return fmt.Errorf("path %q: line or column %d is beyond any file", l.Path, n)
		}
	}
	for _, step := range l.Chain {
		if step.StartLine < 0 || step.StartColumn < 0 || step.StartLine > maxLine || step.StartColumn > maxLine {
			return fmt.Errorf("chain: line or column %d:%d is beyond any file", step.StartLine, step.StartColumn)
		}
	}
	for i := range l.Related {
		if err := checkLocation(&l.Related[i]); err != nil {
			return fmt.Errorf("related[%d].%w", i, err)
		}
	}
	return nil
}

// Statuses lists all statuses.
func Statuses() []Status {
	return []Status{StatusNew, StatusExisting, StatusResolved}
}

// Actions lists all actions, the strongest first.
func Actions() []Action {
	return []Action{ActionError, ActionDeny, ActionWarn, ActionAudit}
}

// Causes lists all causes.
func Causes() []Cause {
	return []Cause{
		CauseValidation, CauseError, CauseConfiguration,
		CausePolicy, CauseSchema, CauseProject, CauseRender,
	}
}

func oneOf[T ~string](field string, got T, want ...T) error {
	if slices.Contains(want, got) {
		return nil
	}
	return fmt.Errorf("%s: %q is none of %q", field, got, want)
}

// checkChanges returns an error for the first invalid value in decoded changes.
func checkChanges(c *Changes) error {
	if c == nil {
		return nil
	}
	for i := range c.Objects {
		o := &c.Objects[i]
		if err := oneOf("operation", o.Operation, "CREATE", "UPDATE", "DELETE"); err != nil {
			return fmt.Errorf("changes.objects[%d].%w", i, err)
		}
		if err := (counts{"added": o.Added, "removed": o.Removed, "cut": o.Cut}).check(); err != nil {
			return fmt.Errorf("changes.objects[%d].%w", i, err)
		}
	}
	return counts{"changes.leftOut": c.LeftOut}.check()
}

// checkCharts returns an error for the first invalid value in decoded charts.
func checkCharts(charts []ChartChange) error {
	for i := range charts {
		c := &charts[i]
		if err := checkLocation(&c.Location); err != nil {
			return fmt.Errorf("charts[%d].location.%w", i, err)
		}
		if err := (counts{"added": c.Added, "changed": c.Changed, "removed": c.Removed, "leftOut": c.LeftOut}).check(); err != nil {
			return fmt.Errorf("charts[%d].%w", i, err)
		}
		for j := range c.Objects {
			if err := oneOf("change", c.Objects[j].Change, ObjectAdded, ObjectChanged, ObjectRemoved); err != nil {
				return fmt.Errorf("charts[%d].objects[%d].%w", i, j, err)
			}
		}
	}
	return nil
}
