package mask

import (
	"regexp"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report"
)

// Lint hides what neighbours of policies in a file hold, as Report does.
func Lint(r *report.LintReport) *report.LintReport {
	c := *r
	c.Findings = maskEach(c.Findings, func(f *report.LintFinding) (changed bool) {
		f.Location, changed = maskLocation(f.Location, false)
		return changed
	})
	c.Indeterminate, c.Diagnostics = maskRemarks(c.Indeterminate, c.Diagnostics)
	return &c
}

// mask stands for a value that is not shown.
const mask = "***"

// Report returns the report with excerpts of Secrets masked. The report itself
// is not modified; what needs no mask is shared with it.
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

// maskEach applies edit to copies and returns the list itself when none changed.
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

// maskLocation masks the excerpt of a location and of its related ones when the
// object is a Secret, or the excerpt itself shows one (a neighbour in the file).
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

// lastApplied is in the annotation in which kubectl keeps the whole object.
const lastApplied = "last-applied-configuration"

// These are compiled once and never change.
var (
	// secretSign is a line that only a Secret, in YAML or JSON, has.
	secretSign = regexp.MustCompile(`\bkind["']?\s*:\s*["']?Secret["']?\s*([,}#]|$)|\bstringData["']?\s*:`)
	// topLevel is a field of the object itself, by its indent, that holds no secret.
	topLevel = regexp.MustCompile(`^(apiVersion|kind|type|immutable):`)
	// metadataLine is where the metadata of the object begins, or all of it.
	metadataLine = regexp.MustCompile(`^metadata:\s*(\{[^{}]*\}\s*)?$`)
	// metadataField is a field of it.
	metadataField = regexp.MustCompile(`^\s+(- +)?["']?[\w./-]+["']?:(\s+[^{}]*)?$`)
	// leftHandSide is `key: ` of YAML or JSON, or `KEY=` of an env file or literal,
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

// isReference reports whether a line `kind: Secret` is of a reference to a Secret: beside
// it are other fields, and none that an object has.
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

// column is the column that the key of a line begins at, after list dashes; the key is empty
// when there is none.
func column(line string) (at int, key string) {
	body := strings.TrimLeft(line, " -")
	name, _, ok := strings.Cut(body, ":")
	if !ok {
		return 0, ""
	}
	return len(line) - len(body), strings.Trim(name, `"' `)
}

// maskLines masks the lines of an excerpt but for the metadata of the object. Block style only
// counts as metadata: in braces an excerpt does not show what is inside of what.
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

// maskLine hides the right-hand side of `key: value` and `KEY=value`, and all of a
// line that is neither (the lines of a block scalar, a folded value).
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
