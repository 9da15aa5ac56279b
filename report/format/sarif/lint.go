package sarif

import (
	"bufio"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/outline"
)

// WriteLint writes one run: a result for each finding, and all rules of lint.
func WriteLint(w *bufio.Writer, r *report.LintReport) error {
	kept, cut := mostSevere(r.Findings, sarifResults, func(f *report.LintFinding) int { return slices.Index(report.Severities(), f.Severity) })
	run := newRun(sarifLintCategory, r.Tool, lintRules(), remarkNotifications(r.Indeterminate, r.Diagnostics, cut))
	for _, f := range kept {
		run.Results = append(run.Results, lintResult(f))
	}
	return encodeRun(w, run)
}

func lintRules() []*sarifRule {
	var rules []*sarifRule
	for _, r := range report.LintRules() {
		title := sentence(strings.ToUpper(r.Title[:1]) + r.Title[1:])
		problem := string(r.Severity)
		if r.Severity == report.SeverityNote {
			problem = "recommendation"
		}
		rules = append(rules, &sarifRule{
			ID: r.ID, Name: pascalCase("lint-" + r.ID), // a name must differ from the id
			ShortDescription: sarifMessage{Text: title}, FullDescription: sarifMessage{Text: title},
			Help:                 &sarifMessage{Text: title + " See docs/lint.md of preadmit for more."},
			DefaultConfiguration: &sarifConfiguration{Level: string(r.Severity)},
			Properties:           &sarifRuleProperties{Tags: []string{"kubernetes", "admission", "lint"}, Precision: "high", ProblemSeverity: problem},
		})
	}
	return rules
}

func lintResult(f *report.LintFinding) sarifResult {
	text := sentence(plainText(f.Message))
	if f.Hint != "" {
		text += " " + sentence(plainText(strings.ToUpper(f.Hint[:1])+f.Hint[1:]))
	}
	return sarifResult{
		RuleID: f.Rule, RuleIndex: slices.Index(report.LintRuleIDs(), f.Rule), Level: string(f.Severity),
		Message: sarifMessage{Text: text}, Locations: []sarifLocation{location(&f.Location, f.Root)},
		PartialFingerprints: partialFingerprints("preadmit/lint/v1", f.Fingerprint, f.Location.LineHash),
		Properties: sarifLintProperties{
			Object: outline.ObjectName(f.Object), Target: f.Target, Root: f.Root, Field: f.Location.Field, Exact: f.Location.Exact,
		},
	}
}
