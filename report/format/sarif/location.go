package sarif

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/outline"
)

// sarifRelated is the maximum number of related locations of a result; GitHub keeps 100.
const sarifRelated = 100

// location returns a location with the complete region that GitHub requires: unknown
// values are derived from the line, or are the start of the file.
func location(l *report.Location, root string) sarifLocation {
	phys := sarifPhysical{
		ArtifactLocation: sarifArtifact{URI: outline.RelativeURI(cmp.Or(l.Path, root, "."))},
		Region:           region(l),
	}
	if len(l.Snippet) > 0 && l.SnippetLine > 0 {
		phys.ContextRegion = contextRegion(l)
	}
	return sarifLocation{PhysicalLocation: phys}
}

func region(l *report.Location) *sarifRegion {
	r := &sarifRegion{
		StartLine:   max(1, l.StartLine),
		StartColumn: max(1, l.StartColumn),
		EndLine:     max(1, l.StartLine, l.EndLine),
		EndColumn:   l.EndColumn,
	}
	line, known := lineOf(l, r.EndLine)
	first := r.EndLine == r.StartLine
	switch {
	case r.EndColumn > r.StartColumn, r.EndColumn > 0 && !first:
	case known && !strings.HasSuffix(line, report.Mask): // a masked line differs in length from the file's
		r.EndColumn = utf8.RuneCountInString(line) + 1
	default:
		r.EndColumn = 0
	}
	if first && r.EndColumn <= r.StartColumn {
		r.EndColumn = r.StartColumn + 1
	}
	r.EndColumn = max(1, r.EndColumn)
	return r
}

// contextRegion returns the snippet as a region, nil if it does not contain the region of
// the location, as SARIF requires.
func contextRegion(l *report.Location) *sarifRegion {
	last := l.SnippetLine + len(l.Snippet) - 1
	if l.SnippetLine > max(1, l.StartLine) || last < max(l.StartLine, l.EndLine) {
		return nil
	}
	return &sarifRegion{
		StartLine: l.SnippetLine,
		EndLine:   last,
		Snippet:   &sarifMessage{Text: strings.Join(l.Snippet, "\n") + "\n"},
	}
}

// lineOf returns a line of the snippet.
func lineOf(l *report.Location, n int) (string, bool) {
	if i := n - l.SnippetLine; l.SnippetLine > 0 && i >= 0 && i < len(l.Snippet) {
		return strings.TrimRight(l.Snippet[i], "\r\n"), true
	}
	return "", false
}

func related(f *report.Finding) []sarifLocation {
	var out []sarifLocation
	for i := range f.Location.Related[:min(sarifRelated, len(f.Location.Related))] {
		rel := &f.Location.Related[i]
		loc := location(rel, f.Root)
		loc.ID = &[]int{i + 1}[0]
		loc.Message = &sarifMessage{Text: sentence(plainText(cmp.Or(rel.Message, "related")))}
		out = append(out, loc)
	}
	return out
}

// flows returns the chain of the field as a code flow: base, overlays, patch. GitHub
// keeps 1,000 steps; a chain never has that many.
func flows(f *report.Finding) []sarifCodeFlow {
	if len(f.Location.Chain) == 0 {
		return nil
	}
	var steps []sarifStep
	for i := range f.Location.Chain {
		steps = append(steps, sarifStep{step(&f.Location.Chain[i], f.Root)})
	}
	return []sarifCodeFlow{{
		Message:     &sarifMessage{Text: sentence(plainText("How " + cmp.Or(f.Location.Field, "the field") + " came to be what it is"))},
		ThreadFlows: []sarifThreadFlow{{Locations: steps}},
	}}
}

func step(c *report.ChainStep, root string) sarifLocation {
	l := location(&report.Location{Path: c.Path, StartLine: c.StartLine, StartColumn: c.StartColumn}, root)
	l.Message = &sarifMessage{Text: sentence(plainText(stepText(c)))}
	return l
}

// stepText describes a step of a chain, like "patch of prod/kustomization.yaml".
func stepText(c *report.ChainStep) string {
	text := cmp.Or(c.Kind, "written here")
	if c.Absent {
		text += ", without the field"
	}
	if c.Kustomization != "" {
		text += " of " + c.Kustomization
	}
	if c.Component {
		text += ", a component"
	}
	return text
}

// links returns the text that links the related locations in a message: GitHub shows only
// linked ones.
func links(locations []sarifLocation) string {
	if len(locations) == 0 {
		return ""
	}
	var parts []string
	for _, l := range locations {
		text := strings.TrimRight(strings.Map(dropBrackets, l.Message.Text), ".")
		parts = append(parts, fmt.Sprintf("[%s](%d)", text, *l.ID))
	}
	return " See " + strings.Join(parts, ", ") + "."
}

func dropBrackets(r rune) rune {
	if r == '[' || r == ']' || r == '\n' {
		return ' '
	}
	return r
}

// plainText makes s safe for a SARIF plain text message: escaped line by line, and
// without embedded links ("[text](target)") of its own.
func plainText(s string) string {
	s = strings.Join(escape.Lines(s), "\n")
	return escape.Clip(strings.ReplaceAll(s, "](", "] ("), sarifText)
}

// sentence returns s with a full stop at its end.
func sentence(s string) string {
	if s == "" {
		return "No message."
	}
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "!") || strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}
