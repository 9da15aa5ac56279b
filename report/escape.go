package report

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text of a repository may try to move the cursor, recolour the screen, reverse
// the reading direction or speak to a CI runner. This file is the one place that
// stops it.

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
	line = strings.ReplaceAll(line, "##[", `##\u005b`)
	rest := strings.TrimLeftFunc(line, unicode.IsSpace)
	if !strings.HasPrefix(rest, "::") {
		return line
	}
	return line[:len(line)-len(rest)] + `\u003a` + rest[1:]
}

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
