package github

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/outline"
)

// Level of an annotation.
type Level string

// The levels GitHub knows.
const (
	LevelFailure Level = "failure"
	LevelWarning Level = "warning"
	LevelNotice  Level = "notice"
)

// Annotation is a remark on lines of a file at the head. Its texts are plain text.
type Annotation struct {
	Path string
	// StartLine and EndLine count from 1.
	StartLine, EndLine int
	// StartColumn and EndColumn count from 1, and both belong to the range. They are 0
	// when not known; GitHub takes them only within one line.
	StartColumn, EndColumn int
	Level                  Level
	Title, Message         string
	// Details are shown on demand.
	Details string
}

// CheckOptions configures how NewCheck turns a report into a Check.
type CheckOptions struct {
	// FailOn and Existing are those of report.Report.Verdict. Existing findings are
	// annotated only with Existing.
	FailOn   string
	Existing bool
	// Summary and Text are the report in Markdown, escaped. The writer should keep each
	// within SummaryRoom: it describes what it leaves out better than cut text does.
	Summary, Text string
	// Files is the set of paths that may be annotated, the files of the pull request; nil
	// means all. Annotations on other files are only noise on GitHub.
	Files map[string]bool
	// Lines translates line numbers of the judged tree to those of the annotated commit.
	Lines Translation
	// Others are the verdicts on other pull requests with the same head; see Check.Beside.
	// NewCheck ignores them; Publisher.Finish adds them.
	Others []Verdict
}

// NewCheck returns the content of a report's check run. It returns an error if a file of
// the trees in opts.Lines cannot be read, or if values of Secrets cannot be masked.
func NewCheck(r *report.Report, opts CheckOptions) (Check, error) {
	c := Check{
		Conclusion: Conclude(r, opts.FailOn, opts.Existing),
		Title:      outline.CountsOf(r, opts.Existing).Headline(),
		Summary:    opts.Summary,
		Text:       opts.Text,
	}
	places, hidden := choose(r, &opts)
	c.Hidden = hidden
	if len(places) > MaxAnnotations {
		c.Over = len(places) - MaxAnnotations
		places = places[:MaxAnnotations]
	}
	if err := maskPlaces(r, places); err != nil {
		return Check{}, err
	}
	for i := range places {
		a, ok, err := places[i].annotation(opts.Lines)
		switch {
		case err != nil:
			return Check{}, fmt.Errorf("annotate: %w", err)
		case ok:
			c.Annotations = append(c.Annotations, a)
		default:
			c.Hidden++
		}
	}
	return c, nil
}

// place is an entry of a report that may have a location. Exactly one field is set.
type place struct {
	finding       *report.Finding
	indeterminate *report.Indeterminate
	diagnostic    *report.Diagnostic
}

// choose returns the entries that may be annotated, the worst level first and otherwise in
// the report's order. hidden counts the entries whose location cannot be annotated.
func choose(r *report.Report, opts *CheckOptions) (places []place, hidden int) {
	take := func(p place) {
		l := p.location()
		switch {
		case l == nil:
		case l.Tree == "base" || !fs.ValidPath(l.Path) || l.Path == "." || opts.Files != nil && !opts.Files[l.Path]:
			hidden++
		default:
			places = append(places, p)
		}
	}
	for i := range r.Findings {
		if isReported(&r.Findings[i], opts.Existing) {
			take(place{finding: &r.Findings[i]})
		}
	}
	for i := range r.Indeterminate {
		if opts.Existing || !r.Indeterminate[i].Untouched {
			take(place{indeterminate: &r.Indeterminate[i]})
		}
	}
	for i := range r.Diagnostics {
		if r.Diagnostics[i].Untouched && !opts.Existing {
			continue
		}
		take(place{diagnostic: &r.Diagnostics[i]})
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.rank(), b.rank()) })
	return places, hidden
}

func (p place) location() *report.Location {
	switch {
	case p.finding != nil:
		return &p.finding.Location
	case p.indeterminate != nil:
		return p.indeterminate.Location
	}
	return p.diagnostic.Location
}

func (p place) level() Level {
	switch {
	case p.finding != nil && outline.ClassOf(p.finding).Denies():
		return LevelFailure
	case p.finding != nil && outline.ClassOf(p.finding) == outline.Audited,
		p.diagnostic != nil && p.diagnostic.Severity == "note":
		return LevelNotice
	}
	return LevelWarning
}

// rank orders places by level, and within a level new findings before existing ones.
func (p place) rank() int {
	rank := 2 * slices.Index([]Level{LevelFailure, LevelWarning, LevelNotice}, p.level())
	if p.finding != nil && p.finding.Status == report.StatusExisting {
		rank++
	}
	return rank
}

// maskPlaces masks the values of Secrets in the chosen entries: it writes them as JSON,
// which masks them, and reads them back.
func maskPlaces(r *report.Report, places []place) error {
	if len(places) == 0 {
		return nil
	}
	part := *r
	part.Findings, part.Indeterminate, part.Diagnostics = []report.Finding{}, []report.Indeterminate{}, []report.Diagnostic{}
	for _, p := range places {
		switch {
		case p.finding != nil:
			part.Findings = append(part.Findings, *p.finding)
		case p.indeterminate != nil:
			part.Indeterminate = append(part.Indeterminate, *p.indeterminate)
		default:
			part.Diagnostics = append(part.Diagnostics, *p.diagnostic)
		}
	}
	var wire bytes.Buffer
	if err := format.Write(&wire, "json", &part, format.Options{}); err != nil {
		return err
	}
	masked, err := report.Read(&wire)
	if err != nil {
		return fmt.Errorf("read the masked report: %w", err)
	}
	var f, n, d int
	for i, p := range places {
		switch {
		case p.finding != nil:
			places[i].finding, f = &masked.Findings[f], f+1
		case p.indeterminate != nil:
			places[i].indeterminate, n = &masked.Indeterminate[n], n+1
		default:
			places[i].diagnostic, d = &masked.Diagnostics[d], d+1
		}
	}
	return nil
}

// annotation returns the annotation of a place; ok is false when the head does not have the file.
func (p place) annotation(lines Translation) (a Annotation, ok bool, err error) {
	l := p.location()
	a = Annotation{
		Path: l.Path, StartLine: max(1, l.StartLine), Level: p.level(),
		StartColumn: l.StartColumn,
		Title:       clip(p.title(), maxTitle),
		Details:     clip(p.details(), maxAnnotationText),
	}
	a.EndLine = max(a.StartLine, l.EndLine)
	a.EndColumn = max(l.StartColumn, l.EndColumn-1)
	if a.StartLine != a.EndLine || a.StartColumn == 0 {
		a.StartColumn, a.EndColumn = 0, 0
	}
	moved, err := a.translate(lines)
	if errors.Is(err, fs.ErrNotExist) {
		return a, false, nil
	}
	a.Message = clip(p.message()+moved, maxAnnotationText)
	return a, err == nil, err
}

// translate moves an annotation to the lines of the head. It returns a remark when the
// head does not have the lines as judged.
func (a *Annotation) translate(t Translation) (remark string, err error) {
	m, err := t.lines(a.Path)
	if m == nil || err != nil {
		return "", err
	}
	judged := a.StartLine
	start, exact := m.Line(a.StartLine)
	end, endExact := m.Line(a.EndLine)
	a.StartLine, a.EndLine = start, max(start, end)
	if exact && endExact {
		return "", nil
	}
	a.StartColumn, a.EndColumn = 0, 0
	return fmt.Sprintf("\n(at line %d of the merge with the base, which this commit does not have as it is)", judged), nil
}

// title returns the class of a finding with its policy, or what an entry without a policy is.
func (p place) title() string {
	switch {
	case p.indeterminate != nil:
		return escape.Line("Not judged: " + p.indeterminate.What)
	case p.diagnostic != nil:
		return escape.Line(p.diagnostic.Severity)
	}
	f := p.finding
	words := outline.ClassOf(f).Title()
	if f.Policy != "" {
		words += ": " + f.Policy
	}
	return escape.Line(words)
}

// message returns the text that GitHub shows below the line.
func (p place) message() string {
	switch {
	case p.indeterminate != nil:
		return plain(p.indeterminate.Why) + line(outline.ObjectName(p.indeterminate.Object))
	case p.diagnostic != nil:
		return plain(p.diagnostic.Message)
	}
	return plain(p.finding.Message) + line(outline.About(p.finding))
}

// line returns escaped text as a further line of a message, "" for no text.
func line(text string) string {
	if text == "" {
		return ""
	}
	return "\n" + escape.Guard(text)
}

// details returns the raw details of a finding: its expression, binding, reason, field and root.
func (p place) details() string {
	f := p.finding
	if f == nil {
		return ""
	}
	var lines []string
	for _, d := range []struct{ name, value string }{
		{"expression", f.Expression}, {"binding", f.Binding}, {"reason", f.Reason},
		{"field", f.Location.Field}, {"root", f.Root},
	} {
		if d.value != "" {
			lines = append(lines, d.name+": "+plain(d.value))
		}
	}
	return strings.Join(lines, "\n")
}

// plain escapes text of a repository line by line. The result is never empty, because
// GitHub requires a message.
func plain(s string) string {
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")), "\n")
	for i, l := range lines {
		lines[i] = escape.Line(l)
	}
	return cmp.Or(strings.Join(lines, "\n"), "no message")
}
