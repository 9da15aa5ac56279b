package report

import "slices"

// Verdict is the result of a report for a threshold.
type Verdict string

const (
	// VerdictPassed: nothing reaches the threshold.
	VerdictPassed Verdict = "passed"
	// VerdictFailed: something fails the run.
	VerdictFailed Verdict = "failed"
	// VerdictIncomplete: a root that should have been judged does not render, so that
	// findings may be missing, or no policy was in force although the scan requires one.
	VerdictIncomplete Verdict = "incomplete"
)

// FailOnValues returns the allowed values of failOn in the configuration, from lax to strict
// except for never.
func FailOnValues() []string { return []string{"deny", "warn", "audit", "indeterminate", "never"} }

// Verdict returns the verdict for a threshold. failOn is one of FailOnValues, the weakest
// action that fails a run (empty means deny). With indeterminate, every action and anything
// that could not be judged fails it; with never, every run passes. Existing findings, and
// indeterminates that the change does not touch, count only with existing; resolved
// findings never count.
func (r *Report) Verdict(failOn string, existing bool) Verdict {
	if failOn == "never" {
		return VerdictPassed
	}
	if r.incomplete() {
		return VerdictIncomplete
	}
	if slices.ContainsFunc(r.Indeterminate, func(i Indeterminate) bool { return i.Fails(failOn, existing) }) {
		return VerdictFailed
	}
	if slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Fails(failOn, existing) }) {
		return VerdictFailed
	}
	return VerdictPassed
}

// Fails reports whether the finding alone fails the run.
func (f *Finding) Fails(failOn string, existing bool) bool {
	return failOn != "never" && f.counts(existing) && slices.Contains(failingActions(failOn), f.Action)
}

// Fails reports whether the indeterminate alone fails the run. A root that rendered at
// base makes the run incomplete, which Verdict reports.
func (i *Indeterminate) Fails(failOn string, existing bool) bool {
	return failOn == "indeterminate" && (existing || !i.Untouched)
}

// incomplete reports whether a root that is new or rendered at base does not render, or no
// policy was in force although one is required.
func (r *Report) incomplete() bool {
	none := r.Summary.NoPolicies
	return none != nil && none.Required || r.Summary.Roots.Failed+r.Summary.Roots.Lost > 0 || slices.ContainsFunc(r.Findings, func(f Finding) bool {
		return f.Cause == CauseRender && f.Status == StatusNew
	})
}

func (f *Finding) counts(existing bool) bool {
	return f.Status == StatusNew || existing && f.Status == StatusExisting
}

// failingActions returns the actions that fail a run with a failOn.
func failingActions(failOn string) []Action {
	all := Actions()
	switch failOn {
	case "", "deny":
		return all[:2]
	case "warn":
		return all[:3]
	}
	return all
}

// CountFindings counts findings by action, then status, as in Summary.Findings.
func CountFindings(findings []Finding) map[Action]map[Status]int {
	counts := map[Action]map[Status]int{}
	for _, f := range findings {
		if counts[f.Action] == nil {
			counts[f.Action] = map[Status]int{}
		}
		counts[f.Action][f.Status]++
	}
	return counts
}
