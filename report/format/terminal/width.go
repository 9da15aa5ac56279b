package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"github.com/preadmit/preadmit/report/format/escape"
)

func PadLeft(s string, width int) string {
	return strings.Repeat(" ", max(0, width-Width(s))) + s
}

// Width returns the number of terminal columns of s, which must be escaped.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// runeWidth returns 0 for marks that combine with the previous rune, 2 for the wide runes of
// East Asian scripts and emoji (Unicode UAX #11), else 1.
func runeWidth(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Wrap breaks escaped text at spaces into lines of at most width columns, of which `used`
// are occupied on the first line and `hang` on the others. It does not break words longer
// than a line, so that paths and URLs can be copied. A word that begins with "::" stays on
// the line of the previous word (see escape.Guard).
func Wrap(text string, width, used, hang int) []string {
	var lines []string
	var line strings.Builder
	col, words := used, 0
	for _, word := range strings.Fields(text) {
		w := Width(word)
		full := col+min(words, 1)+w > width && (words > 0 || len(lines) == 0 && used > hang)
		if full && !strings.HasPrefix(word, "::") {
			lines = append(lines, line.String())
			line.Reset()
			col, words = hang, 0
		}
		if words > 0 {
			line.WriteByte(' ')
			col++
		}
		line.WriteString(word)
		col += w
		words++
	}
	return append(lines, line.String())
}

// Cell is the visible form of one code point of a source line.
type Cell struct {
	Text  string
	Width int
}

// tabWidth is the number of columns of a tab in a source line.
const tabWidth = 4

// Cells splits a source line into one cell per code point, to map the columns of a location
// to columns of the terminal.
func Cells(line string) []Cell {
	out := make([]Cell, 0, len(line))
	for i := 0; i < len(line); {
		r, n := utf8.DecodeRuneInString(line[i:])
		text := escape.Rune(r, line[i:i+n])
		if r == '\t' {
			text = strings.Repeat(" ", tabWidth)
		}
		out = append(out, Cell{text, Width(text)})
		i += n
	}
	return out
}
