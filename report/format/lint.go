package format

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report"
)

// lintFormats is the table of formats of a report.LintReport, under names of Formats.
func lintFormats() []format[*report.LintReport] {
	return []format[*report.LintReport]{
		{"text", writeLintText},
		{"json", writeLintJSON},
		{"sarif", writeLintSARIF},
	}
}

// LintFormats lists the names WriteLint knows, in a fixed order.
func LintFormats() []string { return names(lintFormats()) }

// WriteLint writes the report of preadmit lint in one of LintFormats.
func WriteLint(w io.Writer, name string, r *report.LintReport, opts Options) error {
	return writeAs(w, lintFormats(), name, maskLint(r), opts)
}

// maskLint hides what neighbours of policies in a file hold, as maskSecrets does.
func maskLint(r *report.LintReport) *report.LintReport {
	c := *r
	c.Findings = maskEach(c.Findings, func(f *report.LintFinding) (changed bool) {
		f.Location, changed = maskLocation(f.Location, false)
		return changed
	})
	c.Indeterminate, c.Diagnostics = maskRemarks(c.Indeterminate, c.Diagnostics)
	return &c
}

func writeLintJSON(w *bufio.Writer, r *report.LintReport, _ Options) error { return EncodeJSON(w, r) }

// writeLintText writes the report for people: findings file by file, what could not
// be looked at, remarks, and one line that sums it up.
func writeLintText(w *bufio.Writer, r *report.LintReport, opts Options) error {
	p := &printer{w: w, opts: opts, width: clampWidth(opts.Width)}
	findings := r.Findings
	if opts.Quiet {
		findings = slices.DeleteFunc(slices.Clone(findings), func(f report.LintFinding) bool { return f.Severity != report.SeverityError })
	}
	for len(findings) > 0 {
		path := findings[0].Location.Path
		n := slices.IndexFunc(findings, func(f report.LintFinding) bool { return f.Location.Path != path })
		if n < 0 {
			n = len(findings)
		}
		p.lintFile(path, findings[:n])
		findings = findings[n:]
	}
	if !opts.Quiet {
		p.indeterminate(r.Indeterminate)
		p.diagnostics(r.Diagnostics)
	}
	if p.begun {
		p.line()
	}
	p.block(nil, 2, lintStyle(r), lintSummary(r))
	return p.err
}

func (p *printer) lintFile(path string, findings []report.LintFinding) {
	p.heading(span{cmp.Or(escape(path), "(no file)"), bold})
	var places []*report.Location
	for i := range findings {
		places = append(places, &findings[i].Location)
	}
	margin := marginOf(places)
	var last *report.Location
	for i := range findings {
		if i > 0 {
			p.line()
		}
		f := &findings[i]
		p.item(&f.Location, margin, last, item{
			word: string(f.Severity), mark: severityStyle(string(f.Severity)), aside: " [" + escape(f.Rule) + "]",
			emphasis: bold, message: f.Message,
			details: func(labelled bool) []string { return p.lintDetails(f, labelled) },
		})
		last = &f.Location
	}
}

func (p *printer) lintDetails(f *report.LintFinding, labelled bool) []string {
	var out []string
	if field := escape(f.Location.Field); field != "" && !labelled && !strings.HasPrefix(f.Message, f.Location.Field) {
		out = append(out, "field "+field)
	}
	out = append(out, joinNonEmpty(", ", objectName(f.Object), cluster(f.Target)))
	if f.Hint != "" {
		out = append(out, "hint: "+escape(f.Hint))
	}
	if p.opts.Verbose {
		out = append(out, "root "+escape(f.Root), "fingerprint "+escape(f.Fingerprint))
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

func cluster(target string) string {
	if target == "" {
		return ""
	}
	return "target " + escape(target)
}

// lintSummary is like "1 error, 2 warnings in 3 policies, 2 bindings".
func lintSummary(r *report.LintReport) string {
	var parts []string
	for _, s := range report.Severities() {
		if n := r.Summary.Findings[s]; n > 0 {
			parts = append(parts, count(n, string(s)))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "no findings")
	}
	if n := len(r.Indeterminate); n > 0 {
		parts = append(parts, fmt.Sprintf("%d indeterminate", n))
	}
	text := fmt.Sprintf("%s in %s, %s", strings.Join(parts, ", "), policies(r.Summary.Policies), count(r.Summary.Bindings, "binding"))
	if n := len(r.Summary.Disabled); n > 0 {
		text += fmt.Sprintf("; %s off", count(n, "rule"))
	}
	return text
}

func lintStyle(r *report.LintReport) style {
	for _, s := range report.Severities() {
		if r.Summary.Findings[s] > 0 {
			return severityStyle(string(s))
		}
	}
	if len(r.Indeterminate) > 0 {
		return yellow
	}
	return green
}

// writeLintSARIF writes one run: a result for each finding, with the rules that
// were looked for.
func writeLintSARIF(w *bufio.Writer, r *report.LintReport, _ Options) error {
	kept, cut := mostSevere(r.Findings, sarifResults, func(f *report.LintFinding) int { return slices.Index(report.Severities(), f.Severity) })
	run := newRun(sarifLintCategory, r.Tool, lintRules(), notifications(r.Indeterminate, r.Diagnostics, cut))
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
			Object: objectName(f.Object), Target: f.Target, Root: f.Root, Field: f.Location.Field, Exact: f.Location.Exact,
		},
	}
}
