package format

import (
	"html"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// seeds are texts that try to be more than text.
func seeds() []string {
	return []string{
		"", " ", "plain", "a\nb", "::error::x", "a%0A::error::x", "file=a,line=1::x", "%25", "##[error]x", "\x1b[2J", "\u202e",
		"`", "``", "a`b``c```d", "` ", "```\n@org/team", "~~~", strings.Repeat("`", 99), "@org/team #1 org/repo#1 https://evil.example www.evil.example a@b.c",
		"</details><script>alert(1)</script>", "<!-- preadmit -->", "&lt;&#64;", "![x](https://evil.example)", "[x]: https://evil.example", "\\`", "$`x`$",
		"| a | b |", "# h", "> q", "- l", "1. l", "\"'<>&", "\xff\xfe", "\u2028", "]]>",
	}
}

// spanOf is a code span as CommonMark reads it: the delimiter that opens it, and the
// first run as long ends it.
func spanOf(t *testing.T, text string) (content, rest string) {
	t.Helper()
	open := len(text) - len(strings.TrimLeft(text, "`"))
	if open == 0 || open > 80 {
		t.Fatalf("%q does not begin with a delimiter", text)
	}
	for at := open; at < len(text); {
		if text[at] != '`' {
			at++
			continue
		}
		run := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		if run == open {
			return text[open:at], text[at+run:]
		}
		at += run
	}
	t.Fatalf("%q is not closed", text)
	return "", ""
}

// FuzzCodeSpan: a span is one line, ends where it should, shows the text and nothing
// that a terminal or runner obeys.
func FuzzCodeSpan(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		span := codeSpan(s)
		if bad := unsafe(span); bad != "" || strings.Contains(span, "\n") {
			t.Fatalf("%q holds %q", span, bad)
		}
		content, rest := spanOf(t, span)
		if rest != "" {
			t.Errorf("%q goes on behind the span: %q", span, rest)
		}
		if want := noLegacyCommand(untick(escape(s))); strings.TrimSpace(want) != strings.TrimSpace(content) {
			t.Errorf("it shows %q, want %q", content, want)
		}
	})
}

// FuzzCodeBlock: nothing in a fence closes it, and every line is there.
func FuzzCodeBlock(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		lines := strings.Split(s, "\n")
		block := strings.Split(codeBlock("", lines), "\n")
		fence := block[0]
		if len(block) != len(lines)+3 || block[len(block)-2] != fence || block[len(block)-1] != "" {
			t.Fatalf("%d lines became %q", len(lines), block)
		}
		for _, l := range block[1 : len(block)-2] {
			trimmed := strings.TrimLeft(l, " ")
			if ticks := len(trimmed) - len(strings.TrimLeft(trimmed, "`")); ticks >= len(fence) {
				t.Errorf("%q ends the fence %s", l, fence)
			}
			if bad := unsafe(l); bad != "" {
				t.Errorf("%q holds %q", l, bad)
			}
		}
	})
}

// FuzzHTMLText: no tag, no entity of its own, no end of an attribute; a browser shows
// the text.
func FuzzHTMLText(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := htmlText(s)
		if strings.ContainsAny(text, "<>\"'\n") {
			t.Errorf("%q", text)
		}
		if got := html.UnescapeString(text); got != escape(s) {
			t.Errorf("a browser shows %q, want %q", got, escape(s))
		}
	})
}

// commandLine is a workflow command as actions/runner takes it apart.
var commandLine = regexp.MustCompile(`^::(error|warning|notice) ([^:]*)::(.*)$`)

// FuzzCommand: one line, one command, whose properties and data are what was put in.
func FuzzCommand(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, property, data string) {
		line := "::error file=" + commandProperty(property) + ",title=t::" + commandData(data)
		m := commandLine.FindStringSubmatch(line)
		if m == nil || strings.ContainsAny(line, "\r\n") || !utf8.ValidString(line) {
			t.Fatalf("%q is no command", line)
		}
		properties := strings.Split(m[2], ",")
		if len(properties) != 2 || properties[1] != "title=t" {
			t.Fatalf("the properties are %q", properties)
		}
		_, value, _ := strings.Cut(properties[0], "=")
		if got, want := unescapeCommand(value), noLegacyCommand(escape(property)); got != want {
			t.Errorf("the property is %q, want %q", got, want)
		}
		if got, want := unescapeCommand(m[3]), noLegacyCommand(strings.Join(escapeLines(data), "\n")); got != want {
			t.Errorf("the data is %q, want %q", got, want)
		}
	})
}

// unescapeCommand does what the runner does.
func unescapeCommand(s string) string {
	return strings.NewReplacer("%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%").Replace(s)
}

// FuzzMarkdown writes a report whose every string is hostile, within limits, and reads
// the Markdown: outside of code there are only our own words.
func FuzzMarkdown(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s, 0)
		f.Add(s, 1500)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit = max(0, limit%20000)
		r := hostileReport(s, 3, 1, 4)
		text := written(t, "markdown", r, Options{Limit: limit, Blob: "https://github.com/o/r/blob/0/"})
		if n := utf8.RuneCountInString(text); limit > 0 && n > limit {
			t.Fatalf("%d characters, want at most %d", n, limit)
		}
		if bad := unsafe(text); bad != "" {
			t.Fatalf("it holds %q", bad)
		}
		checkMarkdown(t, text)
	})
}

// ownWords is all that may be outside of code: words and signs of preadmit's own, and
// links to the files of the repository.
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

// withoutSpans is a line without its code spans.
func withoutSpans(t *testing.T, line string) string {
	t.Helper()
	var out strings.Builder
	for {
		at := strings.IndexByte(line, '`')
		if at < 0 {
			return out.String() + line
		}
		out.WriteString(line[:at])
		_, line = spanOf(t, line[at:])
	}
}
