package escape

import (
	"html"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// Seeds are texts with control characters, markup and workflow commands.
func Seeds() []string {
	return []string{
		"", " ", "plain", "a\nb", "::error::x", "a%0A::error::x", "file=a,line=1::x", "%25", "##[error]x", "\x1b[2J", "\u202e",
		"`", "``", "a`b``c```d", "` ", "```\n@org/team", "~~~", strings.Repeat("`", 99), "@org/team #1 org/repo#1 https://evil.example www.evil.example a@b.c",
		"</details><script>alert(1)</script>", "<!-- preadmit -->", "&lt;&#64;", "![x](https://evil.example)", "[x]: https://evil.example", "\\`", "$`x`$",
		"| a | b |", "# h", "> q", "- l", "1. l", "\"'<>&", "\xff\xfe", "\u2028", "]]>",
	}
}

// SpanOf returns the content of a code span as CommonMark defines it: the first run of
// backticks as long as the opening one ends it.
func SpanOf(t *testing.T, text string) (content, rest string) {
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

// FuzzCodeSpan: a span is one line, ends where it should, and shows the text without
// anything that a terminal or runner interprets.
func FuzzCodeSpan(f *testing.F) {
	for _, s := range Seeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		span := CodeSpan(s)
		if bad := Unsafe(span); bad != "" || strings.Contains(span, "\n") {
			t.Fatalf("%q holds %q", span, bad)
		}
		content, rest := SpanOf(t, span)
		if rest != "" {
			t.Errorf("%q goes on behind the span: %q", span, rest)
		}
		if want := GuardLegacy(untick(Text(s))); strings.TrimSpace(want) != strings.TrimSpace(content) {
			t.Errorf("it shows %q, want %q", content, want)
		}
	})
}

// FuzzCodeBlock: no line in a fence closes it, and no line is lost.
func FuzzCodeBlock(f *testing.F) {
	for _, s := range Seeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		lines := strings.Split(s, "\n")
		block := strings.Split(CodeBlock("", lines), "\n")
		fence := block[0]
		if len(block) != len(lines)+3 || block[len(block)-2] != fence || block[len(block)-1] != "" {
			t.Fatalf("%d lines became %q", len(lines), block)
		}
		for _, l := range block[1 : len(block)-2] {
			trimmed := strings.TrimLeft(l, " ")
			if ticks := len(trimmed) - len(strings.TrimLeft(trimmed, "`")); ticks >= len(fence) {
				t.Errorf("%q ends the fence %s", l, fence)
			}
			if bad := Unsafe(l); bad != "" {
				t.Errorf("%q holds %q", l, bad)
			}
		}
	})
}

// FuzzHTMLText: the text has no tag, character reference or end of an attribute, and a
// browser shows it as it is.
func FuzzHTMLText(f *testing.F) {
	for _, s := range Seeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := HTML(s)
		if strings.ContainsAny(text, "<>\"'\n") {
			t.Errorf("%q", text)
		}
		if got := html.UnescapeString(text); got != Text(s) {
			t.Errorf("a browser shows %q, want %q", got, Text(s))
		}
	})
}

// commandLine matches a workflow command as actions/runner parses it.
var commandLine = regexp.MustCompile(`^::(error|warning|notice) ([^:]*)::(.*)$`)

// FuzzCommand: the result is one line with one command, and has the given properties and data.
func FuzzCommand(f *testing.F) {
	for _, s := range Seeds() {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, property, data string) {
		line := "::error file=" + CommandProperty(property) + ",title=t::" + CommandData(data)
		m := commandLine.FindStringSubmatch(line)
		if m == nil || strings.ContainsAny(line, "\r\n") || !utf8.ValidString(line) {
			t.Fatalf("%q is no command", line)
		}
		properties := strings.Split(m[2], ",")
		if len(properties) != 2 || properties[1] != "title=t" {
			t.Fatalf("the properties are %q", properties)
		}
		_, value, _ := strings.Cut(properties[0], "=")
		if got, want := unescapeCommand(value), GuardLegacy(Text(property)); got != want {
			t.Errorf("the property is %q, want %q", got, want)
		}
		if got, want := unescapeCommand(m[3]), GuardLegacy(strings.Join(Lines(data), "\n")); got != want {
			t.Errorf("the data is %q, want %q", got, want)
		}
	})
}

// unescapeCommand decodes data like the runner.
func unescapeCommand(s string) string {
	return strings.NewReplacer("%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%").Replace(s)
}
