package format_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
)

const diffSchemaFile = "../../docs/diff.schema.json"

// comparison returns the report of preadmit diff for the change of a report.
func comparison(t testing.TB, name string) *report.Comparison {
	t.Helper()
	r := read(t, name)
	c := &report.Comparison{
		APIVersion: report.APIVersion, Kind: report.DiffKind, Tool: r.Tool, Change: r.Change,
		Indeterminate: r.Indeterminate, Diagnostics: r.Diagnostics,
	}
	if r.Changes != nil {
		c.Changes = *r.Changes
	}
	return c
}

func writeDiff(t testing.TB, name string, c *report.Comparison, opts format.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := format.WriteDiff(&b, name, c, opts); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestDiffGolden(t *testing.T) {
	withBroken := comparison(t, "change")
	withBroken.Indeterminate = []report.Indeterminate{{
		What: "root", Why: "a remote base is not fetched", Root: "overlays/eu",
		Location: &report.Location{Path: "overlays/eu/kustomization.yaml", StartLine: 3, Tree: "head"},
	}}
	withBroken.Diagnostics = []report.Diagnostic{{Severity: "note", Message: "this root did not render before the change", Root: "overlays/us"}}
	for _, g := range []struct {
		file, format string
		opts         format.Options
	}{
		{"change.diff", "text", zero},
		{"change.color.diff", "text", format.Options{Color: true}},
		{"change.quiet.diff", "text", format.Options{Quiet: true}},
		{"change.diff.md", "markdown", zero},
		{"change.short.diff.md", "markdown", format.Options{Limit: 1350}},
		{"change.diff.json", "json", zero},
	} {
		t.Run(g.file, func(t *testing.T) {
			golden(t, filepath.Join("testdata", "diff", g.file), []byte(writeDiff(t, g.format, withBroken, g.opts)))
		})
	}
}

func TestDiffFitsItsSchema(t *testing.T) {
	s := compile(t, diffSchemaFile)
	for _, name := range []string{"change", "empty", "hostile"} {
		validate(t, s, []byte(writeDiff(t, "json", comparison(t, name), zero)))
	}
	schemaIsType(t, diffSchemaFile, reflect.TypeFor[report.Comparison]())
}

func TestUnknownDiffFormatListsTheKnown(t *testing.T) {
	err := format.WriteDiff(&bytes.Buffer{}, "sarif", comparison(t, "change"), zero)
	if err == nil || !strings.Contains(err.Error(), `unknown format "sarif", want one of text, json, markdown`) {
		t.Errorf("got %v", err)
	}
}

// hostileChange returns an object whose diff tries to escape from each output format.
func hostileChange() *report.Comparison {
	evil := "</details></code></pre>``` ````` @team #1 \x1b[2J\u202e::error::x <script>alert(1)</script> [x](https://evil.example)"
	return &report.Comparison{Changes: report.Changes{Objects: []report.ObjectChange{{
		Root: evil + "\n```\n::warning::x", Operation: "UPDATE",
		Object: report.Object{Kind: evil, Namespace: "a\nb", Name: evil},
		Diff: []string{
			"@@ " + evil, "+" + evil, "-" + evil, " " + evil, evil, "::set-env::x", " ::set-env::x", "```", "+```", "~~~", "</details>",
			strings.Repeat("`", 40), "+\ttab\tand `code`", "", "+ ##[add-matcher]x", "+split\nhere",
		},
		Added: 1, Removed: 1, Cut: 3,
	}}}}
}

// TestHostileDiffBreaksOutOfNothing: no line of text has control characters or workflow
// commands, and in Markdown all of it stays in its fence.
func TestHostileDiffBreaksOutOfNothing(t *testing.T) {
	c := hostileChange()
	for _, format := range format.DiffFormats() {
		text := writeDiff(t, format, c, zero)
		for _, line := range strings.Split(text, "\n") {
			if strings.ContainsAny(line, "\x1b\u202e\r") || strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
				t.Errorf("%s: %q", format, line)
			}
		}
	}
	markdown := writeDiff(t, "markdown", c, zero)
	fence := regexp.MustCompile("(?m)^`{3,}diff$").FindString(markdown)
	fence = strings.TrimSuffix(fence, "diff")
	before, rest, _ := strings.Cut(markdown, fence+"diff\n")
	inside, after, ok := strings.Cut(rest, "\n"+fence+"\n")
	if !ok || strings.Contains(inside, fence) || len(strings.Split(inside, "\n")) != len(c.Changes.Objects[0].Diff) {
		t.Fatalf("the fence %q does not hold:\n%s", fence, markdown)
	}
	if got := strings.TrimSpace(after); got != "`… 3 more lines`\n\n</details>" {
		t.Errorf("after the fence is %q", got)
	}
	if strings.Contains(before, "<script") || strings.Count(before, "<details>") != 1 || strings.Contains(before, "</details>") {
		t.Errorf("before the fence is %q", before)
	}
}

// TestMarkdownDiffIsCut: at any limit the text fits, its fences and elements are closed,
// and what is left out is counted.
func TestMarkdownDiffIsCut(t *testing.T) {
	c := comparison(t, "change")
	for range 3 {
		c.Changes.Objects = append(c.Changes.Objects, c.Changes.Objects...)
	}
	c.Changes.Objects[3].Diff[2] = "+" + strings.Repeat("é`", 300)
	c.Changes.LeftOut = 5
	for limit := 600; limit < 12_000; limit += 97 {
		text := writeDiff(t, "markdown", c, format.Options{Limit: limit})
		if n := utf8.RuneCountInString(text); n > limit || !utf8.ValidString(text) {
			t.Fatalf("limit %d: %d characters", limit, n)
		}
		if strings.Count(text, "<details>") != strings.Count(text, "</details>") {
			t.Errorf("limit %d: details are not closed:\n%s", limit, text)
		}
		if fences := regexp.MustCompile("(?m)^```+").FindAllString(text, -1); len(fences)%2 != 0 {
			t.Errorf("limit %d: fences are not closed: %q", limit, fences)
		}
		shown := strings.Count(text, "<details>")
		linesAreCounted(t, c, text)
		if want := fmt.Sprintf("%d changed object", len(c.Changes.Objects)-shown+c.Changes.LeftOut); !strings.Contains(text, want) {
			t.Errorf("limit %d: %d objects are shown, and no %q in:\n%s", limit, shown, want, text)
		}
	}
}

// linesAreCounted reports objects whose lines are neither shown nor counted.
func linesAreCounted(t *testing.T, c *report.Comparison, text string) {
	t.Helper()
	for i, part := range strings.Split(text, "<details>")[1:] {
		part, _, _ = strings.Cut(part, "</details>")
		o := &c.Changes.Objects[i]
		if o.Omitted != "" {
			continue
		}
		lines, more := 0, 0
		if m := regexp.MustCompile("(?s)(`{3,})diff\n(.*?)\n`{3,}\n").FindStringSubmatch(part); m != nil {
			lines = len(strings.Split(m[2], "\n"))
		}
		if m := regexp.MustCompile("… ([0-9]+) more line").FindStringSubmatch(part); m != nil {
			more, _ = strconv.Atoi(m[1])
		}
		if lines+more != len(o.Diff)+o.Cut {
			t.Errorf("of %d lines %d are shown and %d counted:\n%s", len(o.Diff)+o.Cut, lines, more, part)
		}
	}
}

// TestReportsShowTheDiff: the Markdown of a report has the section below the findings.
func TestReportsShowTheDiff(t *testing.T) {
	text := string(write(t, "markdown", read(t, "change"), zero))
	if !strings.Contains(text, "\n#### Rendered diff: 9 objects differ in 2 roots: ") || !strings.Contains(text, "+        image") && !strings.Contains(text, "+      - image") {
		t.Errorf("no diff in:\n%s", text)
	}
}

func TestReadChecksChanges(t *testing.T) {
	good := write(t, "json", read(t, "change"), zero)
	for _, c := range []struct {
		want string
		edit func(o map[string]any)
	}{
		{`changes.objects[0].operation: "PATCH" is none of`, func(o map[string]any) { o["operation"] = "PATCH" }},
		{`changes.objects[0].cut: -1 is no count`, func(o map[string]any) { o["cut"] = -1 }},
	} {
		var doc map[string]any
		if err := json.Unmarshal(good, &doc); err != nil {
			t.Fatal(err)
		}
		c.edit(doc["changes"].(map[string]any)["objects"].([]any)[0].(map[string]any))
		bad, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := report.Read(reader(bad)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
