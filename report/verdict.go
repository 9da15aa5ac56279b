package report

import "slices"

// Verdict is the result of a report for a threshold.
type Verdict string

const (
	// VerdictPassed: nothing at or above what fails the run.
	VerdictPassed Verdict = "passed"
	// VerdictFailed: something fails the run.
	VerdictFailed Verdict = "failed"
	// VerdictIncomplete: a root that should have been judged does not render, so
	// there may be more than the report says, or no policy judged although one was
	// required.
	VerdictIncomplete Verdict = "incomplete"
)

// FailOnValues are what failOn of the configuration may say, from strict to lax but for
// indeterminate, which asks for more than any action.
func FailOnValues() []string { return []string{"deny", "warn", "audit", "indeterminate", "never"} }

// Verdict weighs the report. failOn is one of FailOnValues, the weakest action
// that fails a run (empty means deny); indeterminate asks for every action and
// for nothing left unjudged, never passes whatever was found. Findings that the
// base has too, and what could not be judged but is not touched by the change, count
// only with existing; resolved findings never do.
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

// Fails reports whether a finding fails the run it belongs to, by itself.
func (f *Finding) Fails(failOn string, existing bool) bool {
	return failOn != "never" && f.counts(existing) && slices.Contains(failingActions(failOn), f.Action)
}

// Fails reports whether what could not be judged fails the run it belongs to, by
// itself. A root that rendered at base makes the run incomplete, which Verdict
// reports.
func (i *Indeterminate) Fails(failOn string, existing bool) bool {
	return failOn == "indeterminate" && (existing || !i.Untouched)
}

// incomplete reports whether a root does not render that did at base, or is new and
// broken, or no policy judged although one was required.
func (r *Report) incomplete() bool {
	none := r.Summary.NoPolicies
	return none != nil && none.Required || r.Summary.Roots.Failed+r.Summary.Roots.Lost > 0 || slices.ContainsFunc(r.Findings, func(f Finding) bool {
		return f.Cause == CauseRender && f.Status == StatusNew
	})
}

func (f *Finding) counts(existing bool) bool {
	return f.Status == StatusNew || existing && f.Status == StatusExisting
}

// failingActions are the actions that fail a run, by its failOn.
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

// CountFindings counts findings by action, then status, as a Summary has it.
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
