package workflow

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/outline"
)

// mostAnnotations is the number of annotations of each level that GitHub shows for one step
// of a workflow.
const mostAnnotations = 10

// annotationText bounds a message, in runes; GitHub accepts 64 KB.
const annotationText = 4000

// annotation is a workflow command that annotates lines of a file, or the run.
type annotation struct {
	// level is the name of the command: error, warning or notice.
	level          string
	at             *report.Location
	title, message string
	// existing is set when the base has it too.
	existing bool
	// first puts it before all others of its level.
	first bool
}

// titleRunes is the maximum length of a title, in runes.
const titleRunes = 255

// levels returns the levels of annotations, the worst first.
func levels() []string { return []string{"error", "warning", "notice"} }

// Options configures which annotations are written.
type Options struct {
	// Files is the set of paths that the change touches, nil if not known. They are
	// annotated before others.
	Files map[string]bool
	// Quiet leaves only denials.
	Quiet bool
	// Existing also annotates findings that the base has too.
	Existing bool
}

// Write writes workflow commands that annotate a run of GitHub Actions: at most as many as
// GitHub shows, the worst first and those in files that the change touches before others; a
// notice with the number of those left out; and a summary line for the log.
func Write(w *bufio.Writer, r *report.Report, opts Options) error {
	if err := writeCommands(w, annotationsOf(r, opts), opts.Files); err != nil {
		return err
	}
	text := outline.Summary(r, opts.Existing)
	_, err := w.WriteString(escape.Line("preadmit: "+text) + "\n")
	return err
}

// annotationsOf returns the annotations of a report, one per place and message, in the
// report's order.
func annotationsOf(r *report.Report, opts Options) []annotation {
	var out []annotation
	if none := outline.NoPolicies(r); none != "" {
		out = append(out, annotation{level: "warning", title: "No policies", message: none, first: true})
	}
	for _, e := range outline.Entries(outline.Open(r.Findings, opts.Existing), opts.Quiet) {
		out = append(out, annotationOf(e))
	}
	if opts.Quiet {
		return out
	}
	return append(out, remarkAnnotations(r, opts.Existing)...)
}

func annotationOf(e *outline.Entry) annotation {
	text := e.Message + "\n" + outline.Verdict(e.Finding)
	if n := len(e.Also); n > 0 {
		text += ", and " + outline.Count(n, "more request")
	}
	return annotation{
		level: annotationLevel(outline.ClassOf(e.Finding).Level()), at: &e.Location,
		title: outline.ClassOf(e.Finding).Title() + ": " + cmp.Or(e.Policy, string(e.Cause)), message: text,
		existing: e.Status == report.StatusExisting,
	}
}

// annotationLevel returns the level for a SARIF level or the severity of a diagnostic.
func annotationLevel(level string) string {
	if level == "error" || level == "warning" {
		return level
	}
	return "notice"
}

// remarkAnnotations returns the annotations of indeterminates and diagnostics; unless
// existing, only of those that the change touches.
func remarkAnnotations(r *report.Report, existing bool) []annotation {
	var out []annotation
	for i := range r.Indeterminate {
		n := &r.Indeterminate[i]
		if n.Untouched && !existing {
			continue
		}
		about := outline.Join(", ", outline.ObjectName(n.Object), outline.Join(" ", n.What, cmp.Or(n.Root, n.Policy)))
		out = append(out, annotation{
			level: "warning", at: n.Location, title: "Not judged", message: n.Why + "\n" + about, existing: n.Untouched,
		})
	}
	for _, d := range outline.Remarks(r.Diagnostics) {
		if d.Untouched && !existing {
			continue
		}
		level := annotationLevel(d.Severity)
		if level == "error" {
			level = "warning" // a diagnostic is not a verdict
		}
		out = append(out, annotation{level: level, at: d.Location, title: "Remark", message: d.Message})
	}
	return out
}

// writeCommands writes at most mostAnnotations of each level, and counts the rest.
func writeCommands(w *bufio.Writer, list []annotation, files map[string]bool) error {
	slices.SortStableFunc(list, func(a, b annotation) int { return cmp.Compare(a.rank(files), b.rank(files)) })
	shown, left := map[string]int{}, map[string]int{}
	total := map[string]int{}
	for _, a := range list {
		total[a.level]++
	}
	over := slices.ContainsFunc(levels(), func(l string) bool { return total[l] > mostAnnotations })
	for _, a := range list {
		room := mostAnnotations
		if over && a.level == "notice" {
			room-- // for the notice below
		}
		if shown[a.level] == room {
			left[a.level]++
			continue
		}
		shown[a.level]++
		if _, err := w.WriteString(a.command() + "\n"); err != nil {
			return err
		}
	}
	return writeLeftOut(w, left)
}

func writeLeftOut(w *bufio.Writer, left map[string]int) error {
	var parts []string
	for _, l := range levels() {
		if left[l] > 0 {
			parts = append(parts, outline.Count(left[l], "more "+l))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	text := strings.Join(parts, ", ") + ": GitHub shows 10 annotations of each level. The report has all."
	_, err := w.WriteString("::notice title=preadmit::" + escape.CommandData(text) + "\n")
	return err
}

// rank returns the sort key: by level, then files that the change touches first, then new
// findings first.
func (a *annotation) rank(files map[string]bool) int {
	rank := 4 * slices.Index(levels(), a.level)
	if files != nil && (a.at == nil || !files[a.at.Path]) {
		rank += 2
	}
	if a.existing {
		rank++
	}
	if a.first {
		rank = 4 * slices.Index(levels(), a.level)
	}
	return rank
}

// command returns the workflow command. A place in the base tree is named in the title,
// since the head may not have the file.
func (a *annotation) command() string {
	title := a.title
	var properties []string
	switch l := a.at; {
	case l == nil || l.Path == "":
	case l.Tree == "base":
		title += " at " + outline.Place(l)
	default:
		properties = append(properties, "file="+escape.CommandProperty(l.Path))
		properties = append(properties, rangeProperties(l)...)
	}
	properties = append(properties, "title="+escape.CommandProperty(escape.Clip(title, titleRunes)))
	return fmt.Sprintf("::%s %s::%s", a.level, strings.Join(properties, ","), escape.CommandData(escape.Clip(a.message, annotationText)))
}

// rangeProperties returns the lines, and the columns if the range is within one line. The
// ends are inclusive.
func rangeProperties(l *report.Location) []string {
	if l.StartLine == 0 {
		return nil
	}
	end := max(l.StartLine, l.EndLine)
	out := []string{fmt.Sprintf("line=%d", l.StartLine), fmt.Sprintf("endLine=%d", end)}
	if l.StartColumn > 0 && end == l.StartLine {
		out = append(out, fmt.Sprintf("col=%d", l.StartColumn), fmt.Sprintf("endColumn=%d", max(l.StartColumn, l.EndColumn-1)))
	}
	return out
}
