package escape

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Text escapes s for one line of a terminal or log: control and format characters, bidi
// overrides, newlines and bytes that are not UTF-8 become Go escape sequences.
func Text(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		b.WriteString(Rune(r, s[i:i+n]))
		i += n
	}
	return b.String()
}

// Lines is Text for text of several lines.
func Lines(s string) []string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i, l := range lines {
		lines[i] = Text(strings.TrimRight(l, " \t\r"))
	}
	return lines
}

// Rune returns the visible form of a rune that was decoded from raw.
func Rune(r rune, raw string) string {
	switch {
	case r == utf8.RuneError && len(raw) == 1:
		return fmt.Sprintf(`\x%02x`, raw[0])
	case visible(r):
		return raw
	}
	return strings.Trim(strconv.QuoteRuneToASCII(r), "'")
}

// visible reports whether a rune is shown as itself.
func visible(r rune) bool { return strconv.IsGraphic(r) }

// plain reports whether Text need not change s, which is the common case.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// Clip returns s cut to at most n runes, with an ellipsis at the end if it was cut.
func Clip(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// GuardAll guards and joins escaped lines.
func GuardAll(lines []string) string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = Guard(l)
	}
	return strings.Join(out, "\n")
}

// GuardedLines is Line for text with several lines.
func GuardedLines(text string) []string {
	lines := Lines(text)
	for i := range lines {
		lines[i] = Guard(lines[i])
	}
	return lines
}

// Line escapes text of a repository for a complete line of a terminal or log.
func Line(text string) string { return Guard(Text(text)) }
