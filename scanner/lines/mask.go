package lines

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/policy/secrets"
)

// quotedBytes is how much of a malformed separator line an error of rendering quotes.
const quotedBytes = 40

// hiddenBy returns the values that masking removed from lines.
func hiddenBy(lines, masked []string) []string {
	var hidden []string
	for i, line := range lines {
		if masked[i] != line {
			value := strings.TrimPrefix(line, strings.TrimSuffix(masked[i], report.Mask))
			if value = strings.TrimSpace(value); value == "" {
				continue
			}
			hidden = append(hidden, strings.Trim(value, `"'`))
			hidden = append(hidden, inFlow(value)...)
			if strings.HasPrefix(line, "---") && len(value) > quotedBytes {
				hidden = append(hidden, value[:quotedBytes])
			}
		}
	}
	return hidden
}

// inFlow returns the elements of a value in brackets or braces, or of a line of one; for KEY=VALUE
// and KEY: VALUE also the value alone.
func inFlow(value string) []string {
	if !strings.ContainsAny(value[:1], "[{") && !strings.ContainsAny(value[len(value)-1:], "]},") {
		return nil
	}
	var parts []string
	for _, part := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(`[]{},"'`, r) }) {
		part = strings.TrimSpace(part)
		parts = append(parts, part)
		for _, sign := range []string{"=", ": "} {
			if _, after, ok := strings.Cut(part, sign); ok {
				parts = append(parts, after)
			}
		}
	}
	return parts
}

// Conceal removes content of Secrets in files from errors of rendering, gaps and diagnostics. Texts
// of policies are concealed where they are made.
func (l *Locator) Conceal(r *report.Report) {
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Cause == report.CauseRender {
			f.Message = l.concealed(f.Message, f.Root, &f.Location)
			f.Original = l.concealed(f.Original, f.Root, &f.Location)
		}
	}
	for i := range r.Indeterminate {
		n := &r.Indeterminate[i]
		n.Why = l.concealed(n.Why, n.Root, n.Location)
		n.Original = l.concealed(n.Original, n.Root, n.Location)
	}
	for i := range r.Diagnostics {
		d := &r.Diagnostics[i]
		d.Message = l.concealed(d.Message, d.Root, d.Location)
		d.Original = l.concealed(d.Original, d.Root, d.Location)
	}
}

// concealed returns a message without content of Secrets in the file at a location or in the files
// because of which root does not render: a message may quote why it did not render before.
func (l *Locator) concealed(message, root string, at *report.Location) string {
	var hidden []string
	if at != nil && at.Path != "" {
		hidden = slices.Concat(hidden, l.texts.file(l.sideOf(at), at.Path).hidden)
	}
	for _, side := range l.change.Trees() {
		at, _ := side.RootAt(root)
		if r := side.Roots[side.ID(at)]; r != nil && r.Problem != nil {
			hidden = slices.Concat(hidden, l.texts.file(side, r.Problem.Place().Path).hidden)
		}
	}
	return secrets.ConcealValues(message, hidden)
}

// Concealed returns the reason why a root of a tree does not render, without content of Secrets in
// the file at fault, which kustomize quotes.
func Concealed(tree fs.FS, p *render.Problem) string {
	return secrets.ConcealValues(p.Error(), readText(tree, p.Place().Path).hidden)
}
