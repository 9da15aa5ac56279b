package escape_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
	"github.com/preadmit/preadmit/report/format/escape"
)

// FuzzEscape writes a report with hostile text in every string, in every format.
func FuzzEscape(f *testing.F) {
	for _, s := range []string{
		"", " ", "plain", "::error::x", "\n::error::x", "a ::b", "##[group]x", "\x1b[2J", "\u202e", "a\tb\r\nc", "\xff\xfe",
		"e\u0301", "東京", "\u2028::x", "---", "kind: Secret", strings.Repeat("word ", 60), strings.Repeat("x", 300),
	} {
		f.Add(s, 1, 1, 5)
	}
	f.Fuzz(func(t *testing.T, s string, line, column, end int) {
		r := hostileReport(s, line%1000, column%1000, end%1000)
		for _, opts := range []format.Options{{}, {Verbose: true, Width: 40}, {Quiet: true}} {
			checkText(t, r, opts)
		}
		checkColor(t, r)
		for _, name := range []string{"junit", "html"} {
			if bad := escape.Unsafe(written(t, name, r, format.Options{})); bad != "" {
				t.Errorf("%s holds %q", name, bad)
			}
		}
		for _, name := range []string{"json", "sarif"} {
			checkJSON(t, r, name)
		}
	})
}

func checkText(t *testing.T, r *report.Report, opts format.Options) {
	t.Helper()
	if bad := escape.Unsafe(written(t, "text", r, opts)); bad != "" {
		t.Errorf("with %+v the text holds %q", opts, bad)
	}
}

// colour matches an escape sequence that sets the colour of text.
var colour = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// checkColor checks that coloured text without these sequences equals the plain text.
func checkColor(t *testing.T, r *report.Report) {
	t.Helper()
	text := written(t, "text", r, format.Options{Color: true})
	text = colour.ReplaceAllString(text, "")
	if diff := cmp.Diff(written(t, "text", r, format.Options{}), text); diff != "" {
		t.Errorf("colour changes the text (-plain +coloured):\n%s", diff)
	}
}

func checkJSON(t *testing.T, r *report.Report, name string) {
	t.Helper()
	doc := written(t, name, r, format.Options{})
	if bad := escape.Unsafe(doc); bad != "" {
		t.Errorf("%s holds %q", name, bad)
	}
	if !json.Valid([]byte(doc)) {
		t.Errorf("%s is not JSON: %s", name, doc)
	}
}

func written(t *testing.T, name string, r *report.Report, opts format.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := format.Write(&b, name, r, opts); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// hostileReport returns a report with s in every text that comes from a repository.
func hostileReport(s string, line, column, end int) *report.Report {
	index := 0
	loc := report.Location{
		Path: s, StartLine: max(0, line), StartColumn: max(0, column), EndLine: max(0, line), EndColumn: max(0, end),
		Field: s, Exact: column%2 == 0, Snippet: []string{s, s + s, s}, SnippetLine: max(0, line-1), Message: s,
	}
	loc.Related = []report.Location{loc}
	object := &report.Object{APIVersion: s, Kind: s, Namespace: s, Name: s}
	f := report.Finding{
		Fingerprint: s, Status: report.StatusNew, Action: report.ActionDeny, Actions: []report.Action{report.ActionDeny, report.Action(s)},
		Cause: report.CauseValidation, Policies: report.PoliciesProposed, Policy: s, Binding: s,
		Param: &report.ParamRef{Namespace: s, Name: s}, Validation: &index, Expression: s, Message: s, Reason: s,
		Operation: s, Object: object, Root: s, Location: loc,
	}
	resolved, odd := f, f
	resolved.Status = report.StatusResolved
	odd.Status, odd.Action, odd.Cause = report.Status(s), report.Action(s), report.Cause(s)
	return &report.Report{
		APIVersion: report.APIVersion, Kind: report.Kind,
		Tool:     report.Tool{Name: s, Version: s, Kubernetes: s},
		Change:   report.ChangeInfo{Base: &report.Revision{Name: s, Commit: s}, Head: report.Revision{Name: s, Commit: s}},
		Findings: []report.Finding{f, resolved, odd},
		Indeterminate: []report.Indeterminate{
			{What: s, Why: s, Location: &loc, Object: object, Policy: s, Root: s}, {What: s, Why: s},
		},
		Diagnostics: []report.Diagnostic{{Severity: s, Message: s, Location: &loc, Root: s}, {Severity: s, Message: s, Root: s}},
	}
}

// FuzzMarkdown writes a report with hostile text in every string, within limits. Outside
// of code, the Markdown must have only preadmit's own text.
func FuzzMarkdown(f *testing.F) {
	for _, s := range escape.Seeds() {
		f.Add(s, 0)
		f.Add(s, 1500)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit = max(0, limit%20000)
		r := hostileReport(s, 3, 1, 4)
		text := written(t, "markdown", r, format.Options{Limit: limit, Blob: "https://github.com/o/r/blob/0/"})
		if n := utf8.RuneCountInString(text); limit > 0 && n > limit {
			t.Fatalf("%d characters, want at most %d", n, limit)
		}
		if bad := escape.Unsafe(text); bad != "" {
			t.Fatalf("it holds %q", bad)
		}
		checkMarkdown(t, text)
	})
}

// ownWords matches all text that may be outside of code: preadmit's own text, and links to
// the files of the repository.
var ownWords = regexp.MustCompile(`^(` +
	`[A-Za-z0-9 ,.:;()×_-]` +
	`|#{3,4} |\*\*|\*\*\[|\]\(https://github\.com/o/r/blob/0/[A-Za-z0-9%._~&+=$@/-]*(#L\d+)?\)\*\*|> |- ` +
	`|</?details>|<summary>[A-Za-z0-9 ,.]*</summary>|</?sub>)*$`)

func checkMarkdown(t *testing.T, text string) {
	t.Helper()
	details, fence := 0, ""
	for _, line := range strings.Split(text, "\n") {
		switch {
		case fence != "":
			if line == fence {
				fence = ""
			}
			continue
		case strings.HasPrefix(line, "```"):
			fence = line[:len(line)-len(strings.TrimLeft(line, "`"))]
			continue
		}
		left := withoutSpans(t, line)
		details += strings.Count(left, "<details>") - strings.Count(left, "</details>")
		if !ownWords.MatchString(left) {
			t.Errorf("outside of code: %q of %q", left, line)
		}
	}
	if details != 0 || fence != "" {
		t.Errorf("%d <details> and fence %q are open at the end:\n%s", details, fence, text)
	}
}

// withoutSpans returns a line without its code spans.
func withoutSpans(t *testing.T, line string) string {
	t.Helper()
	var out strings.Builder
	for {
		at := strings.IndexByte(line, '`')
		if at < 0 {
			return out.String() + line
		}
		out.WriteString(line[:at])
		_, line = escape.SpanOf(t, line[at:])
	}
}
