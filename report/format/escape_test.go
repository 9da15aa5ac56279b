package format

import (
	"bytes"
	"encoding/json"
	"html"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/report"
)

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"plain text":      "plain text",
		"café 東京 🚀":       "café 東京 🚀",
		"C:\\path":        "C:\\path",
		"a\nb\r\tc":       `a\nb\r\tc`,
		"\x1b[31mred":     `\x1b[31mred`,
		"\x00\x7f":        `\x00\x7f`,
		"\u009b31m":       `\u009b31m`,
		"\u202eevil":      `\u202eevil`,
		"zero\u200bwidth": `zero\u200bwidth`,
		"\ufeffbom":       `\ufeffbom`,
		"\u2028":          `\u2028`,
		"bad\xffutf8":     `bad\xffutf8`,
		"tag\U000e0041":   `tag\U000e0041`,
		"it's":            "it's",
		"'\x07'":          `'\a'`,
	} {
		if got := escape(in); got != want {
			t.Errorf("escape(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestGuardLine(t *testing.T) {
	for in, want := range map[string]string{
		"::error::x":          `\u003a:error::x`,
		"  \t::error::x":      "  \t" + `\u003a:error::x`,
		"\u3000::error::x":    "\u3000" + `\u003a:error::x`,
		"7 | ::error::x":      "7 | ::error::x",
		"say ##[add-mask]it":  `say ##\u005badd-mask]it`,
		"range ::/0 is large": "range ::/0 is large",
	} {
		if got := guardLine(in); got != want {
			t.Errorf("guardLine(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestGuardHTML(t *testing.T) {
	for in, want := range map[string]string{
		"<pre>::x\n::error::y":    "<pre>::x\n&#58;&#58;error::y",
		"::\n \t::x\n":            "&#58;&#58;\n \t&#58;&#58;x\n",
		"\n\u3000::x\n\n":         "\n\u3000&#58;&#58;x\n\n",
		"say ###[add-mask]##[it]": "say ###&#91;add-mask]##&#91;it]",
		"range ::/0 is large":     "range ::/0 is large",
	} {
		if got := guardHTML(in); got != want || html.UnescapeString(got) != in {
			t.Errorf("guardHTML(%q) = %q, want %q", in, got, want)
		}
	}
	if guardHTML(htmlStyle) != htmlStyle {
		t.Error("the style sheet would not be what its hash is of")
	}
}

func TestGuardJSONKeepsTheMeaning(t *testing.T) {
	want := "a\u202e\u009b\x7f##[x]\U000e0041é東🚀\u2028 [1] #["
	doc, err := json.Marshal([]string{want, want})
	if err != nil {
		t.Fatal(err)
	}
	safe := guardJSON(doc)
	var got []string
	if err := json.Unmarshal(safe, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{want, want}, got); diff != "" {
		t.Errorf("the value changed (-want +got):\n%s", diff)
	}
	if bad := unsafe(string(safe)); bad != "" {
		t.Errorf("%s holds %q", safe, bad)
	}
}

// unsafe gives the first thing of a document that must not reach a terminal or a
// CI runner.
func unsafe(doc string) string {
	for _, line := range strings.Split(doc, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
			return line
		}
	}
	for i, r := range doc {
		if r == utf8.RuneError && !strings.HasPrefix(doc[i:], "\ufffd") {
			return doc[i:min(len(doc), i+4)]
		}
		if r != '\n' && (unicode.Is(unicode.C, r) || r == '\u2028' || r == '\u2029') {
			return string(r)
		}
	}
	return ""
}

// FuzzEscape writes a report whose every string is hostile, in every format.
func FuzzEscape(f *testing.F) {
	for _, s := range []string{
		"", " ", "plain", "::error::x", "\n::error::x", "a ::b", "##[group]x", "\x1b[2J", "\u202e", "a\tb\r\nc", "\xff\xfe",
		"e\u0301", "東京", "\u2028::x", "---", "kind: Secret", strings.Repeat("word ", 60), strings.Repeat("x", 300),
	} {
		f.Add(s, 1, 1, 5)
	}
	f.Fuzz(func(t *testing.T, s string, line, column, end int) {
		r := hostileReport(s, line%1000, column%1000, end%1000)
		for _, opts := range []Options{{}, {Verbose: true, Width: 40}, {Quiet: true}} {
			checkText(t, r, opts)
		}
		checkColor(t, r)
		for _, format := range []string{"junit", "html"} {
			if bad := unsafe(written(t, format, r, Options{})); bad != "" {
				t.Errorf("%s holds %q", format, bad)
			}
		}
		for _, format := range []string{"json", "sarif"} {
			checkJSON(t, r, format)
		}
	})
}

func checkText(t *testing.T, r *report.Report, opts Options) {
	t.Helper()
	if bad := unsafe(written(t, "text", r, opts)); bad != "" {
		t.Errorf("with %+v the text holds %q", opts, bad)
	}
}

// checkColor: without the sequences of style.go the coloured text is the plain one.
func checkColor(t *testing.T, r *report.Report) {
	t.Helper()
	text := written(t, "text", r, Options{Color: true})
	for _, s := range []style{bold, dim, gutter, red, yellow, blue, green, "0"} {
		text = strings.ReplaceAll(text, "\x1b["+string(s)+"m", "")
	}
	if diff := cmp.Diff(written(t, "text", r, Options{}), text); diff != "" {
		t.Errorf("colour changes the text (-plain +coloured):\n%s", diff)
	}
}

func checkJSON(t *testing.T, r *report.Report, format string) {
	t.Helper()
	doc := written(t, format, r, Options{})
	if bad := unsafe(doc); bad != "" {
		t.Errorf("%s holds %q", format, bad)
	}
	if !json.Valid([]byte(doc)) {
		t.Errorf("%s is not JSON: %s", format, doc)
	}
}

func written(t *testing.T, format string, r *report.Report, opts Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, format, r, opts); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// hostileReport has s wherever a repository has a say.
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
