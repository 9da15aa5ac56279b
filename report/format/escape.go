package format

import (
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text of a repository may try to move the cursor, recolour the screen, reverse
// the reading direction, speak to a CI runner, call a team by @name or close the
// element it is shown in. This file is the one place that stops it, for terminals
// and logs, JSON, Markdown, HTML and workflow commands.

// escape makes s safe for one line of a terminal or log: what does not show as
// itself (control and format characters, bidi overrides, newlines, bytes that are
// not UTF-8) is written as a Go escape sequence.
func escape(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		b.WriteString(escapeRune(r, s[i:i+n]))
		i += n
	}
	return b.String()
}

// escapeLines is escape for text of several lines.
func escapeLines(s string) []string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i, l := range lines {
		lines[i] = escape(strings.TrimRight(l, " \t\r"))
	}
	return lines
}

// escapeRune gives the visible form of a rune that was decoded from raw.
func escapeRune(r rune, raw string) string {
	switch {
	case r == utf8.RuneError && len(raw) == 1:
		return fmt.Sprintf(`\x%02x`, raw[0])
	case visible(r):
		return raw
	}
	return strings.Trim(strconv.QuoteRuneToASCII(r), "'")
}

// visible tells whether a rune shows as itself and nothing but itself.
func visible(r rune) bool { return strconv.IsGraphic(r) }

// plain tells whether escape has nothing to do, which is the common case.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// guardLine keeps a finished line from being taken for a workflow command, which
// GitHub Actions recognizes by "::" at the start of a line, blanks aside, and by
// "##[" anywhere.
func guardLine(line string) string {
	line = noLegacyCommand(line)
	rest := strings.TrimLeftFunc(line, unicode.IsSpace)
	if !strings.HasPrefix(rest, "::") {
		return line
	}
	return line[:len(line)-len(rest)] + `\u003a` + rest[1:]
}

// noLegacyCommand writes the older mark of a workflow command as an escape.
func noLegacyCommand(s string) string { return strings.ReplaceAll(s, "##[", `##\u005b`) }

// guardJSON does for encoded JSON what escape does for text, with escapes of
// JSON: the document means the same and is safe to print. Outside of strings JSON
// has none of these characters.
func guardJSON(doc []byte) []byte {
	out := make([]byte, 0, len(doc)+len(doc)/64)
	for i := 0; i < len(doc); {
		if c := doc[i]; c < utf8.RuneSelf {
			switch {
			case c == 0x7f:
				out = append(out, `\u007f`...)
			case c == '[' && i >= 2 && doc[i-1] == '#' && doc[i-2] == '#':
				out = append(out, `\u005b`...)
			default:
				out = append(out, c)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(doc[i:])
		if visible(r) {
			out = append(out, doc[i:i+n]...)
		} else {
			out = appendJSONEscape(out, r)
		}
		i += n
	}
	return out
}

func appendJSONEscape(out []byte, r rune) []byte {
	if r > 0xffff {
		r -= 0x10000
		out = fmt.Appendf(out, `\u%04x`, 0xd800+r>>10)
		return fmt.Appendf(out, `\u%04x`, 0xdc00+r&0x3ff)
	}
	return fmt.Appendf(out, `\u%04x`, r)
}

// clip cuts s to at most n runes and says so with an ellipsis.
func clip(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// maxTicks is the longest run of backticks kept in Markdown: GitHub's parser does
// not take longer ones for delimiters, so that no longer delimiter could hold them.
const maxTicks = 16

// ticks are runs of backticks. It is compiled once and never changes.
var ticks = regexp.MustCompile("`+")

// codeSpan is one line of text for Markdown, as code: nothing in it is read as
// Markdown or HTML, and GitHub links no mention, reference, commit or URL in it.
func codeSpan(s string) string {
	s = untick(escape(s))
	if strings.TrimSpace(s) == "" {
		return "` `"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || strings.HasPrefix(s, " ") && strings.HasSuffix(s, " ") {
		s = " " + s + " "
	}
	delimiter := strings.Repeat("`", longestTicks(s)+1)
	return guardLine(delimiter + s + delimiter)
}

// codeBlock is lines of text for Markdown, in a fence that they cannot end. Each is
// escaped. lang is a word of ours that tells how to colour it, or empty.
func codeBlock(lang string, lines []string) string {
	var body strings.Builder
	for _, l := range lines {
		body.WriteString(guardLine(untick(escape(l))) + "\n")
	}
	fence := strings.Repeat("`", max(3, longestTicks(body.String())+1))
	return fence + lang + "\n" + body.String() + fence + "\n"
}

// untick writes runs of backticks that are too long to be held as escapes.
func untick(s string) string {
	if longestTicks(s) <= maxTicks {
		return s
	}
	return strings.ReplaceAll(s, "`", `\u0060`)
}

func longestTicks(s string) int {
	longest := 0
	for _, run := range ticks.FindAllString(s, -1) {
		longest = max(longest, len(run))
	}
	return longest
}

// htmlText is one line of text for HTML, inside of an element or of a quoted
// attribute.
func htmlText(s string) string { return html.EscapeString(escape(s)) }

// guardHTML is guardLine for HTML: a browser shows the same. The text of style elements,
// where nothing stands for a character, must have no need of it.
func guardHTML(doc string) string {
	doc = strings.ReplaceAll(doc, "##[", "##&#91;")
	var b strings.Builder
	for line := range strings.Lines(doc) {
		if rest, ok := strings.CutPrefix(strings.TrimLeftFunc(line, unicode.IsSpace), "::"); ok {
			b.WriteString(line[:len(line)-len("::")-len(rest)] + "&#58;&#58;")
			line = rest
		}
		b.WriteString(line)
	}
	return b.String()
}

// commandData is text for the end of a workflow command, as actions/runner reads it
// back (ActionCommand.cs); it may have several lines.
func commandData(s string) string {
	s = noLegacyCommand(strings.Join(escapeLines(s), "\n"))
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// commandProperty is text for a property of a workflow command.
func commandProperty(s string) string {
	return strings.NewReplacer("%", "%25", ":", "%3A", ",", "%2C").Replace(noLegacyCommand(escape(s)))
}
