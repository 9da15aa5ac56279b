package mask

import (
	"regexp"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report"
)

// Lint is Report for a report of lint: a file of a policy may also have Secrets.
func Lint(r *report.LintReport) *report.LintReport {
	c := *r
	c.Findings = maskEach(c.Findings, func(f *report.LintFinding) (changed bool) {
		f.Location, changed = maskLocation(f.Location, false)
		return changed
	})
	c.Indeterminate, c.Diagnostics = maskRemarks(c.Indeterminate, c.Diagnostics)
	return &c
}

// mask replaces a value that is not shown.
const mask = "***"

// Report returns a copy of the report with excerpts of Secrets masked. Parts that need no
// mask are shared with the original, which is not modified.
func Report(r *report.Report) *report.Report {
	c := *r
	c.Findings = maskEach(c.Findings, func(f *report.Finding) bool {
		l, changed := maskLocation(f.Location, isSecret(f.Object))
		f.Location = l
		return changed
	})
	c.Indeterminate, c.Diagnostics = maskRemarks(c.Indeterminate, c.Diagnostics)
	return &c
}

func maskRemarks(indeterminate []report.Indeterminate, diagnostics []report.Diagnostic) ([]report.Indeterminate, []report.Diagnostic) {
	indeterminate = maskEach(indeterminate, func(n *report.Indeterminate) (changed bool) {
		n.Location, changed = maskPointer(n.Location, isSecret(n.Object))
		return changed
	})
	return indeterminate, maskEach(diagnostics, func(d *report.Diagnostic) (changed bool) {
		d.Location, changed = maskPointer(d.Location, false)
		return changed
	})
}

// maskEach applies edit to copies of the elements. It returns the list itself if edit
// changes none.
func maskEach[T any](list []T, edit func(*T) bool) []T {
	out := list
	copied := false
	for i := range list {
		v := list[i]
		if !edit(&v) {
			continue
		}
		if !copied {
			out, copied = slices.Clone(list), true
		}
		out[i] = v
	}
	return out
}

func isSecret(o *report.Object) bool { return o != nil && o.Kind == "Secret" }

func maskPointer(l *report.Location, secret bool) (*report.Location, bool) {
	if l == nil {
		return nil, false
	}
	masked, changed := maskLocation(*l, secret)
	if !changed {
		return l, false
	}
	return &masked, true
}

// maskLocation masks the excerpts of a location and its related locations if the object is
// a Secret, or if an excerpt shows one, like the next object in the file.
func maskLocation(l report.Location, secret bool) (report.Location, bool) {
	changed := false
	if len(l.Snippet) > 0 && (secret || showsSecret(l.Snippet)) {
		l.Snippet, changed = maskLines(l.Snippet), true
	}
	related := maskEach(l.Related, func(rel *report.Location) bool {
		m, ok := maskLocation(*rel, secret)
		*rel = m
		changed = changed || ok
		return ok
	})
	l.Related = related
	return l, changed
}

// lastApplied is part of the annotation in which kubectl stores the whole object.
const lastApplied = "last-applied-configuration"

// These are compiled once and never change.
var (
	// secretSign matches lines, in YAML or JSON, that only a Secret has.
	secretSign = regexp.MustCompile(`\bkind["']?\s*:\s*["']?Secret["']?\s*([,}#]|$)|\bstringData["']?\s*:`)
	// topLevel matches unindented fields of the object that are not secret.
	topLevel = regexp.MustCompile(`^(apiVersion|kind|type|immutable):`)
	// metadataLine matches the start of the object's metadata, or all of it.
	metadataLine = regexp.MustCompile(`^metadata:\s*(\{[^{}]*\}\s*)?$`)
	// metadataField matches a field in the metadata.
	metadataField = regexp.MustCompile(`^\s+(- +)?["']?[\w./-]+["']?:(\s+[^{}]*)?$`)
	// leftHandSide matches `key: ` of YAML or JSON, or `KEY=` of an env file or literal,
	// after list dashes and braces.
	leftHandSide = regexp.MustCompile(`^\s*(- +)*[{]?\s*("[^"]*"|'[^']*'|[\w./-]+)\s*:(\s+|$)|^\s*(- +)*["']?[\w.-]+=[^=\s]`)
)

func showsSecret(lines []string) bool {
	for i, line := range lines {
		if secretSign.MatchString(line) && !isReference(lines, i) {
			return true
		}
	}
	return false
}

// isReference reports whether a line `kind: Secret` belongs to a reference to a Secret:
// there are other fields at the same level, and none of them is one of an object.
func isReference(lines []string, i int) bool {
	at, key := column(lines[i])
	if key != "kind" || at == 0 {
		return false
	}
	siblings := false
	for j, line := range lines {
		col, key := column(line)
		if j == i || col != at || key == "" {
			continue
		}
		if slices.Contains([]string{"apiVersion", "metadata", "data", "stringData", "type", "immutable"}, key) {
			return false
		}
		siblings = true
	}
	return siblings
}

// column returns the key of a line and the column of its start, after list dashes. The key
// is empty if there is none.
func column(line string) (at int, key string) {
	body := strings.TrimLeft(line, " -")
	name, _, ok := strings.Cut(body, ":")
	if !ok {
		return 0, ""
	}
	return len(line) - len(body), strings.Trim(name, `"' `)
}

// maskLines masks the lines of an excerpt except the metadata of the object. It recognizes
// metadata in block style only: for braces, an excerpt does not show the nesting.
func maskLines(lines []string) []string {
	out := make([]string, len(lines))
	inMetadata := false
	for i, line := range lines {
		indented := strings.HasPrefix(line, " ")
		switch {
		case !indented && metadataLine.MatchString(line):
			inMetadata = strings.TrimSpace(line) == "metadata:"
			out[i] = line
			continue
		case !indented || !metadataField.MatchString(line) || strings.Contains(line, lastApplied):
			inMetadata = false
		}
		if out[i] = line; !inMetadata {
			out[i] = maskLine(line)
		}
	}
	return out
}

// maskLine masks the right-hand side of `key: value` and `KEY=value`, and the whole of any
// other line, like those of a block scalar or a folded value.
func maskLine(line string) string {
	t := strings.TrimSpace(line)
	if t == "" || t == "---" || topLevel.MatchString(line) {
		return line
	}
	if at := leftHandSide.FindStringIndex(line); at != nil {
		left := line[:at[1]]
		if i := strings.IndexByte(left, '='); i >= 0 && !strings.Contains(left, ":") {
			left = left[:i+1]
		}
		if strings.TrimSpace(left) == t {
			return line
		}
		return left + mask
	}
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))] + mask
}
