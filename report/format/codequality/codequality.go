// Package codequality writes the Code Quality report of GitLab, which shows its entries on the
// lines of a merge request. It is a part of Code Climate's format; see
// https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format.
package codequality

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/outline"
)

// Options configures what is written.
type Options struct {
	// Existing adds the findings that the base has too.
	Existing bool
	// Quiet leaves only denials.
	Quiet bool
}

// entry is an entry of the report.
type entry struct {
	Description string   `json:"description"`
	CheckName   string   `json:"check_name"`
	Fingerprint string   `json:"fingerprint"`
	Severity    string   `json:"severity"`
	Location    location `json:"location"`
}

type location struct {
	Path  string `json:"path"`
	Lines lines  `json:"lines"`
}

type lines struct {
	Begin int `json:"begin"`
	End   int `json:"end,omitempty"`
}

// descriptionRunes is the maximum length of a description, in runes: GitLab shows it in one line.
const descriptionRunes = 1000

// Write writes an entry for each new finding and each indeterminate that the change touches,
// and one if no policy was in force.
func Write(w *bufio.Writer, r *report.Report, opts Options) error {
	entries := []entry{} // an empty list, not null
	if none := r.Summary.NoPolicies; none != nil && !opts.Quiet {
		entries = append(entries, entry{
			Description: description("nothing was judged by policies: "+none.Why, ""),
			CheckName:   "preadmit/no-policies", Severity: "minor", Fingerprint: digest("no policies"),
			Location: location{Path: ".preadmit.yaml", Lines: lines{Begin: 1}},
		})
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		fresh := f.Status == report.StatusNew || f.Status == report.StatusExisting && opts.Existing
		if fresh && (f.Action == report.ActionError || f.Action == report.ActionDeny || !opts.Quiet) {
			entries = append(entries, finding(f))
		}
	}
	for i := range r.Indeterminate {
		if n := &r.Indeterminate[i]; !opts.Quiet && (!n.Untouched || opts.Existing) {
			entries = append(entries, unjudged(n))
		}
	}
	return escape.EncodeJSON(w, distinct(entries))
}

func finding(f *report.Finding) entry {
	name := "preadmit/" + string(f.Cause)
	if f.Policy != "" {
		name = f.Policy
	}
	if f.Policy != "" && f.Validation != nil {
		name = fmt.Sprintf("%s/validation-%d", f.Policy, *f.Validation)
	}
	proposed := ""
	if f.Policies == report.PoliciesProposed {
		proposed = "by the proposed policies"
	}
	return entry{
		Description: description(f.Message, outline.Join(", ", outline.About(f), proposed)),
		CheckName:   escape.Text(name),
		Fingerprint: f.Fingerprint,
		Severity:    severity(f.Action),
		Location:    place(&f.Location, f.Root),
	}
}

func unjudged(n *report.Indeterminate) entry {
	e := entry{
		Description: description("not judged: "+n.Why, outline.ObjectName(n.Object)),
		CheckName:   "preadmit/not-judged", Severity: "minor", Location: place(n.Location, n.Root),
	}
	// The line is not part of the fingerprint, so that it does not depend on moves.
	e.Fingerprint = digest(n.What, n.Root, n.Policy, e.Location.Path, e.Description)
	return e
}

// description returns the text with what it is about, in one line.
func description(text, about string) string {
	if about != "" {
		text += " (" + about + ")"
	}
	return escape.Clip(escape.Text(strings.Join(strings.Fields(text), " ")), descriptionRunes)
}

// severity returns one of GitLab's severities: blocker, critical, major, minor or info.
func severity(a report.Action) string {
	switch a {
	case report.ActionError, report.ActionDeny:
		return "critical"
	case report.ActionWarn:
		return "minor"
	}
	return "info"
}

// place returns a location for GitLab, which always needs a path and a line.
func place(l *report.Location, root string) location {
	if l == nil {
		l = &report.Location{}
	}
	at := location{Path: cmp.Or(l.Path, root, "."), Lines: lines{Begin: max(l.StartLine, 1)}}
	if l.EndLine > at.Lines.Begin {
		at.Lines.End = l.EndLine
	}
	return at
}

// distinct makes the fingerprints of entries unique: of entries with the same one, GitLab
// shows only the first.
func distinct(entries []entry) []entry {
	seen := map[string]int{}
	for i := range entries {
		e := &entries[i]
		n := seen[e.Fingerprint]
		seen[e.Fingerprint]++
		if n > 0 {
			e.Fingerprint = digest(e.Fingerprint, fmt.Sprint(n))
		}
	}
	return entries
}

func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}
