package text

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/excerpt"
	"github.com/preadmit/preadmit/report/format/outline"
)

// WriteLint writes a report of lint: findings by file, indeterminates, remarks, and a
// summary in one line.
func WriteLint(w *bufio.Writer, r *report.LintReport, opts Options) error {
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
		p.indeterminate(r.Indeterminate, nil)
		p.diagnostics(r.Diagnostics)
	}
	if p.begun {
		p.line()
	}
	p.block(nil, 2, lintStyle(r), lintSummary(r))
	return p.err
}

func (p *printer) lintFile(path string, findings []report.LintFinding) {
	p.heading(span{cmp.Or(escape.Text(path), "(no file)"), bold})
	var places []*report.Location
	for i := range findings {
		places = append(places, &findings[i].Location)
	}
	margin := excerpt.Margin(places)
	var last *report.Location
	for i := range findings {
		if i > 0 {
			p.line()
		}
		f := &findings[i]
		p.item(&f.Location, margin, last, item{
			word: string(f.Severity), mark: severityStyle(string(f.Severity)), aside: " [" + escape.Text(f.Rule) + "]",
			emphasis: bold, message: f.Message,
			details: func(labelled bool) []string { return p.lintDetails(f, labelled) },
		})
		last = &f.Location
	}
}

func (p *printer) lintDetails(f *report.LintFinding, labelled bool) []string {
	var out []string
	if field := escape.Text(f.Location.Field); field != "" && !labelled && !strings.HasPrefix(f.Message, f.Location.Field) {
		out = append(out, "field "+field)
	}
	out = append(out, outline.Join(", ", outline.ObjectName(f.Object), cluster(f.Target)))
	if f.Hint != "" {
		out = append(out, "hint: "+escape.Text(f.Hint))
	}
	if p.opts.Verbose {
		out = append(out, "root "+escape.Text(f.Root), "fingerprint "+escape.Text(f.Fingerprint))
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

func cluster(target string) string {
	if target == "" {
		return ""
	}
	return "target " + escape.Text(target)
}

// lintSummary returns a text like "1 error, 2 warnings in 3 policies, 2 bindings".
func lintSummary(r *report.LintReport) string {
	var parts []string
	for _, s := range report.Severities() {
		if n := r.Summary.Findings[s]; n > 0 {
			parts = append(parts, outline.Count(n, string(s)))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "no findings")
	}
	if n := len(r.Indeterminate); n > 0 {
		parts = append(parts, fmt.Sprintf("%d indeterminate", n))
	}
	text := fmt.Sprintf("%s in %s, %s", strings.Join(parts, ", "), outline.Policies(r.Summary.Policies), outline.Count(r.Summary.Bindings, "binding"))
	if n := len(r.Summary.Disabled); n > 0 {
		text += fmt.Sprintf("; %s off", outline.Count(n, "rule"))
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
