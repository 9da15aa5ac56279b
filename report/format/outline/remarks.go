package outline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
)

// SeverityWord returns the severity of a diagnostic, "remark" for an unknown one.
func SeverityWord(s string) string {
	switch s {
	case "error", "warning", "note":
		return s
	}
	return "remark"
}

// firstLineRunes bounds the first line of a message.
const firstLineRunes = 2000

// FirstLine returns the first line of a message, escaped.
func FirstLine(s string) string { return escape.Clip(escape.Lines(s)[0], firstLineRunes) }

// Remark is a diagnostic with all roots that have it.
type Remark struct {
	*report.Diagnostic
	Roots []string
	// Others counts further places or roots with the same note, see Notes.
	Others int
}

// shape returns a message without the details of one remark: numbers, and lists of names of
// files, roots, kinds and objects, which contain a slash or a dot.
func shape(message string) string {
	var out []string
	for _, word := range strings.Fields(message) {
		core := strings.Trim(word, `(),;:."`)
		if _, err := strconv.Atoi(core); err == nil || strings.ContainsAny(core, "/.") {
			word = ellipsis
		}
		last := len(out) - 1
		switch {
		case word == ellipsis && last >= 0 && out[last] == ellipsis:
			continue
		case word == ellipsis && last >= 1 && out[last] == "and" && out[last-1] == ellipsis:
			out = out[:last]
			continue
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

// Notes merges notes that differ only in places, roots or names, since nobody looks at each
// of them. It does not merge warnings and errors.
func Notes(list []*Remark) []*Remark {
	var order []*Remark
	seen := map[string]*Remark{}
	for _, r := range list {
		same := shape(r.Message)
		first := seen[same]
		switch {
		case r.Severity != "note" || first == nil:
			order = append(order, r)
			if r.Severity == "note" {
				seen[same] = r
			}
		default:
			first.Others++
		}
	}
	return order
}

// AndOthers returns the text that counts the others, to show after a place or root.
func (r *Remark) AndOthers() string {
	if r.Others == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", r.Others)
}

// Remarks merges diagnostics with the same severity, message and place.
func Remarks(list []report.Diagnostic) []*Remark {
	type key struct{ severity, message, place string }
	var order []*Remark
	seen := map[key]*Remark{}
	for i := range list {
		d := &list[i]
		k := key{severity: d.Severity, message: d.Message}
		if d.Location != nil {
			k.place = Place(d.Location)
		}
		r := seen[k]
		if r == nil || k.place == "" {
			r = &Remark{Diagnostic: d}
			seen[k], order = r, append(order, r)
		}
		if d.Root != "" && !slices.Contains(r.Roots, escape.Text(d.Root)) {
			r.Roots = append(r.Roots, escape.Text(d.Root))
		}
	}
	return order
}
