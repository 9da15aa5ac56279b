package proof

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// scalarText is where the text of a scalar, or its first line, is in a file: without quotes, indicators,
// anchors and tags.
type scalarText struct {
	line     int // counted from 1
	from, to int // runes of the line
	quote    rune
	plain    bool
	// blank is written before a text where there is none.
	blank string
}

func (w scalarText) text(lines [][]rune) []rune { return lines[w.line-1][w.from:w.to] }

// scalarAt returns the text of the scalar that begins at a place.
func scalarAt(lines [][]rune, at tree.Position) (scalarText, bool) {
	if at.Line < 1 || at.Line > len(lines) || at.Column < 1 {
		return scalarText{}, false
	}
	line := []rune(strings.TrimRight(string(lines[at.Line-1]), "\r\n"))
	w := scalarText{line: at.Line, from: at.Column - 1, to: len(line)}
	if w.from > len(line) {
		return scalarText{}, false
	}
	w.from += origin.Properties(line[w.from:])
	if strings.TrimSpace(string(line[w.from:])) == "" {
		w.to, w.blank, w.plain = w.from, " ", true
		return w, true
	}
	switch r := line[w.from]; r {
	case '"', '\'':
		return w.quoted(line, r), true
	case '|', '>':
		return blockBelow(lines, at.Line)
	case '{', '[', '*', '#', ' ':
		return scalarText{}, false
	}
	w.plain = true
	w.to = w.from + plainEnd(line[w.from:], strings.ContainsAny(string(line[:w.from]), "{["))
	return w, true
}

// quoted returns the text between quotes, on this line.
func (w scalarText) quoted(line []rune, quote rune) scalarText {
	escape := quote
	if quote == '"' {
		escape = '\\'
	}
	if end := origin.Closing(line, w.from, quote, escape); end > 0 {
		w.to = end - 2
	}
	w.from++
	w.quote = quote
	return w
}

// plainEnd returns the end of a text without quotes: before a comment, at the end of the line, or in a flow
// collection before the character that ends an entry.
func plainEnd(text []rune, flow bool) int {
	s := string(text)
	if i := strings.IndexAny(s, ",}]"); flow && i >= 0 {
		s = s[:i]
	}
	if i := strings.Index(s, " #"); i >= 0 {
		s = s[:i]
	}
	return len([]rune(strings.TrimRightFunc(s, unicode.IsSpace)))
}

// blockBelow returns the first line of a block scalar whose header is on a line.
func blockBelow(lines [][]rune, header int) (scalarText, bool) {
	for i := header; i < len(lines); i++ {
		text := strings.TrimRight(string(lines[i]), " \t\r\n")
		if text == "" {
			continue
		}
		indent := len(text) - len(strings.TrimLeft(text, " "))
		return scalarText{line: i + 1, from: indent, to: len([]rune(text))}, true
	}
	return scalarText{}, false
}

// longest limits the length of texts that are compared character by character.
const longest = 2000

// endsOfCommon returns where the parts that a text shares with another end: at its beginning if it begins with
// the other, and the longest part of it that is in the other, the last of several. It returns none when they
// share nothing.
func endsOfCommon(text, other []rune) []int {
	if len(other) == 0 {
		return nil
	}
	var out []int
	if strings.HasPrefix(string(text), string(other)) {
		out = append(out, len(other))
	}
	if end := endOfLongest(text[:min(len(text), longest)], other[:min(len(other), longest)]); end > 0 && !slices.Contains(out, end) {
		out = append(out, end)
	}
	return out
}

func endOfLongest(text, other []rune) int {
	end, length := 0, 1
	row := make([]int, len(other)+1)
	for i := range text {
		for j := len(other); j > 0; j-- {
			if text[i] != other[j-1] {
				row[j] = 0
				continue
			}
			if row[j] = row[j-1] + 1; row[j] >= length {
				end, length = i+1, row[j]
			}
		}
	}
	return end
}

var (
	keyAt    = regexp.MustCompile(`^(?:"[^"]*"|'[^']*'|[^\s:{}\[\],][^:]*):(?:\s+|$)`)
	dashedAt = regexp.MustCompile(`^(\s*)-(\s+)`)
)

// withEntry adds an entry to the collection whose key is at a place, or to the element of a list that begins
// there.
func (f sourceFile) withEntry(at tree.Position) ([]change, string) {
	lines := f.lines()
	if at.Line < 1 || at.Line > len(lines) || at.Column < 1 || at.Column > len(lines[at.Line-1]) {
		return nil, noLine(f.path, at.Line)
	}
	line := lines[at.Line-1]
	rest := strings.TrimRight(string(line[at.Column-1:]), "\r\n")
	entry := `"` + f.marker + `": "` + f.marker + `"` // in JSON too
	var out []change
	if key := keyAt.FindString(rest); key != "" {
		behind := at.Column - 1 + len([]rune(key))
		if data := f.within(lines, at.Line, behind, entry); data != nil {
			out = append(out, f.change(data))
		}
		// An element of a list begins with its first key.
		out = append(out, f.change(replaced(lines, at.Line, at.Column-1, at.Column-1,
			entry+"\n"+strings.Repeat(" ", at.Column-1))))
	} else if data := f.within(lines, at.Line, at.Column-1, entry); data != nil {
		out = append(out, f.change(data))
	}
	if len(out) == 0 {
		return nil, "what is written at " + at.String() + " is no collection"
	}
	return out, ""
}

// within adds an entry to the collection that begins at a rune of a line.
func (f sourceFile) within(lines [][]rune, line, from int, entry string) []byte {
	text := strings.TrimSpace(string(lines[line-1][from:]))
	switch {
	case strings.HasPrefix(text, "{"):
		return replaced(lines, line, from+1, from+1, firstOf(text[1:], entry))
	case strings.HasPrefix(text, "["):
		if inner := strings.TrimSpace(text[1:]); strings.HasPrefix(inner, "{") {
			at := from + len([]rune(text)) - len([]rune(inner)) + 1
			return replaced(lines, line, at, at, firstOf(inner[1:], entry))
		}
		return replaced(lines, line, from+1, from+1, firstOf(text[1:], `"`+f.marker+`"`))
	case text != "" && !strings.HasPrefix(text, "#"):
		return nil
	}
	for i := line; i < len(lines); i++ {
		below := string(lines[i])
		if text := strings.TrimSpace(below); text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		return f.onLine(lines, i+1, below, entry)
	}
	return nil
}

// firstOf returns an entry to be inserted before the others of a flow collection.
func firstOf(others, entry string) string {
	if others = strings.TrimSpace(others); others != "" && strings.ContainsRune("}]", rune(others[0])) {
		return entry
	}
	return entry + ", "
}

// onLine adds an entry before the first one of a collection in block style.
func (f sourceFile) onLine(lines [][]rune, line int, text, entry string) []byte {
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	m := dashedAt.FindString(text)
	switch {
	case m == "":
		return replaced(lines, line, len(indent), len(indent), entry+"\n"+indent)
	case keyAt.MatchString(strings.TrimRight(text[len(m):], "\r\n")):
		return replaced(lines, line, len(m), len(m), entry+"\n"+strings.Repeat(" ", len(m)))
	}
	return replaced(lines, line, len(indent), len(indent), "- "+f.marker+"\n"+indent)
}
