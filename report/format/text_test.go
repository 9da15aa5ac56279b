package format_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
)

// TestTextFitsItsWidth: a line is longer than the width only if it cannot be broken.
func TestTextFitsItsWidth(t *testing.T) {
	for _, name := range []string{"empty", "clean", "one", "many", "secret", "unicode"} {
		for _, width := range []int{60, 80, 100} {
			text := string(write(t, "text", read(t, name), format.Options{Width: width}))
			for _, line := range strings.Split(text, "\n") {
				fields := strings.Fields(line)
				if utf8.RuneCountInString(line) <= width || len(fields) < 3 || longest(fields) > width/2 {
					continue
				}
				t.Errorf("%s at %d columns: %d in %q", name, width, utf8.RuneCountInString(line), line)
			}
		}
	}
}

func longest(words []string) int {
	n := 0
	for _, w := range words {
		n = max(n, len(w))
	}
	return n
}

// TestUnderlineIsBelowTheRange compares the columns of the mark with those of the
// location, for source lines of every kind.
func TestUnderlineIsBelowTheRange(t *testing.T) {
	for _, c := range []struct {
		name, line     string
		start, end     int
		shown, pointer string
	}{
		{"ascii", "replicas: 20", 11, 13, "replicas: 20", "          ^~"},
		{"wide before", "名: 東京 x", 7, 8, "名: 東京 x", "         ^"},
		{"wide inside", "a: 東京", 4, 6, "a: 東京", "   ^~~~"},
		{"combining", "e\u0301e\u0301 x", 6, 7, "e\u0301e\u0301 x", "   ^"},
		{"tab", "\tx: y", 5, 6, "    x: y", "       ^"},
		{"escaped", "\x1b x", 3, 4, `\x1b x`, "     ^"},
		{"end unknown", "key: value", 6, 0, "key: value", "     ^~~~~"},
		{"past the end", "key:", 6, 9, "key:", "    ^"},
		{"end past the end", "key: v", 6, 99, "key: v", "     ^"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := read(t, "one")
			l := &r.Findings[0].Location
			l.Snippet, l.SnippetLine, l.Field = []string{c.line}, 7, ""
			l.StartColumn, l.EndColumn = c.start, c.end
			text := string(write(t, "text", r, format.Options{}))
			want := " 7 | " + c.shown + "\n"
			_, rest, ok := strings.Cut(text, want)
			mark, _, _ := strings.Cut(rest, "\n")
			_, mark, _ = strings.Cut(mark, "| ")
			if !ok || mark != c.pointer {
				t.Errorf("want %q with %q below in:\n%s", want, c.pointer, text)
			}
		})
	}
}

// TestLongLinesAreCutAroundTheRange: a range at the end of a minified file is visible.
func TestLongLinesAreCutAroundTheRange(t *testing.T) {
	r := read(t, "one")
	l := &r.Findings[0].Location
	line := strings.Repeat(`{"a":1},`, 1000)
	l.Snippet, l.SnippetLine, l.Field = []string{line + `"culprit"` + line}, 7, ""
	l.StartColumn, l.EndColumn = len(line)+1, len(line)+10
	lines := strings.Split(string(write(t, "text", r, format.Options{})), "\n")
	for i, shown := range lines {
		at := strings.Index(shown, `"culprit"`)
		if at < 0 {
			continue
		}
		at = utf8.RuneCountInString(shown[:at])
		if strings.TrimSpace(lines[i+1][at-2:]) != "^~~~~~~~~" || utf8.RuneCountInString(shown) > 80 {
			t.Errorf("not underlined, or too long:\n%s\n%s", shown, lines[i+1])
		}
		return
	}
	t.Errorf("the range is not shown:\n%s", strings.Join(lines, "\n"))
}

// TestRepeatsAreShownOnce: one line of a base that five roots share.
func TestRepeatsAreShownOnce(t *testing.T) {
	const message = "has no fixed tag"
	short := string(write(t, "text", read(t, "many"), format.Options{}))
	if n := strings.Count(short, message); n != 1 {
		t.Errorf("the message is shown %d times", n)
	}
	if !strings.Contains(short, "and 2 more (-v lists them)") {
		t.Error("the repeats are not counted")
	}
	long := string(write(t, "text", read(t, "many"), format.Options{Verbose: true}))
	for _, root := range []string{"dev", "eu", "prod", "staging", "us"} {
		if !strings.Contains(long, "UPDATE Deployment shop/web, root overlays/"+root+"\n") {
			t.Errorf("verbose does not list root %s", root)
		}
	}
}

func TestQuietLeavesDenialsAndTheSummary(t *testing.T) {
	text := string(write(t, "text", read(t, "many"), format.Options{Quiet: true}))
	for _, gone := range []string{" warning: ", " audited: ", "Not judged,", "Remarks", "Resolved", "Not shown"} {
		if strings.Contains(text, gone) {
			t.Errorf("%q is still there", gone)
		}
	}
	if !strings.Contains(text, " denied: ") || !strings.Contains(text, "10 not judged, ") {
		t.Errorf("denials or the summary are missing:\n%s", text)
	}
}

// TestExistingFindingsAreALine: existing findings are only counted, and shown with Existing.
func TestExistingFindingsAreALine(t *testing.T) {
	r := read(t, "one")
	r.Change.Base = &report.Revision{Name: "main"}
	r.Findings[0].Status = report.StatusExisting
	message := r.Findings[0].Message[:20]
	for _, name := range []string{"text", "markdown", "github"} {
		hidden := string(write(t, name, r, zero))
		if strings.Contains(hidden, message) || !strings.Contains(hidden, "no findings, 1 existing") {
			t.Errorf("%s:\n%s", name, hidden)
		}
		shown := string(write(t, name, r, format.Options{Existing: true}))
		if !strings.Contains(shown, message) || !strings.Contains(shown, "1 denied (1 existing)") {
			t.Errorf("%s with existing:\n%s", name, shown)
		}
	}
}

// TestRootsOfOneError: the roots that do not render because of one line are counted, with an
// example, and so are those that did not render before; Verbose names all.
func TestRootsOfOneError(t *testing.T) {
	r := read(t, "clean")
	r.Change.Base = &report.Revision{Name: "main"}
	at := report.Location{Path: "base/kustomization.yaml", StartLine: 4, Tree: "head"}
	for i := range 6 {
		root := fmt.Sprintf("root-%d", i)
		r.Findings = append(r.Findings, report.Finding{Cause: report.CauseRender, Message: "no x.sh", Location: at, Root: root, Status: report.StatusNew, Action: report.ActionDeny})
		r.Indeterminate = append(r.Indeterminate, report.Indeterminate{
			What: "root", Why: "this root does not render, as it did not before the change, and is not judged: no x.sh", Location: &at, Root: "old-" + root,
		})
	}
	r.Indeterminate = append(r.Indeterminate, report.Indeterminate{What: "root", Why: "for another reason: no x.sh", Location: &report.Location{Path: "other.yaml"}})
	short, long := string(write(t, "text", r, zero)), string(write(t, "text", r, format.Options{Verbose: true}))
	for _, want := range []string{
		"= 6 roots do not render, so none of their objects could be judged: for\n      example root-0 (-v lists them)\n",
		"= 6 more roots did not render before the change either: not judged\n", "\n  for another reason: no x.sh\n    other.yaml\n",
	} {
		if !strings.Contains(short, want) {
			t.Errorf("no %q in:\n%s", want, short)
		}
	}
	if strings.Contains(short, "as it did not before") {
		t.Errorf("twice:\n%s", short)
	}
	for i := range 6 {
		if root := fmt.Sprintf("root-%d", i); strings.Count(long, root) != 2 || !strings.Contains(long, "old-"+root) {
			t.Errorf("%s is not named in:\n%s", root, long)
		}
	}
}

// TestWhatIsNotAFindingIsBounded: hundreds of reasons and notes are only counted unless
// Verbose; errors and warnings are never left out.
func TestWhatIsNotAFindingIsBounded(t *testing.T) {
	r := read(t, "clean")
	for i := range 200 {
		root := fmt.Sprintf("root-%d", i)
		at := &report.Location{Path: fmt.Sprintf("base-%d/kustomization.yaml", i/10), StartLine: 4, Tree: "head"}
		r.Indeterminate = append(r.Indeterminate, report.Indeterminate{
			What: "root", Why: fmt.Sprintf("reason-%d.", i/20), Location: at, Root: root,
		})
		severity := [...]string{"note", "note", "note", "warning"}[i%4]
		r.Diagnostics = append(r.Diagnostics, report.Diagnostic{Severity: severity, Message: fmt.Sprintf("remark-%d.", i), Location: at, Root: root})
	}
	short := string(write(t, "text", r, zero))
	for _, want := range []string{
		"base-0/kustomization.yaml:4: 10 roots\n", "and 100 for 5 more reasons (-v lists them)",
		"more notes (-v lists them)", "no findings, 200 not judged in 12 roots",
	} {
		if !strings.Contains(short, want) {
			t.Errorf("no %q in:\n%s", want, short)
		}
	}
	if n := strings.Count(short, ": warning: "); n != 50 {
		t.Errorf("%d of 50 warnings are shown", n)
	}
	long := string(write(t, "text", r, format.Options{Verbose: true}))
	for i := range 200 {
		if !strings.Contains(long, fmt.Sprintf("remark-%d.", i)) || !strings.Contains(long, fmt.Sprintf("reason-%d.", i/20)) || !strings.Contains(long, fmt.Sprintf("root-%d", i)) {
			t.Errorf("verbose leaves out number %d", i)
		}
	}
}
