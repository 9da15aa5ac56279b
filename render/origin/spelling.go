package origin

import (
	"sort"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render/tree"
)

// Spelling has the position in a file of each character of a text.
type Spelling struct {
	text []rune
	at   []spot
	// begins are the offsets of the lines of the text.
	begins []int
}

// spot is a line of a file and a rune of it, counted from 1.
type spot struct{ line, column int32 }

// SpellingAt returns the Spelling of the text at a position of a file with these lines; nil if the text is neither
// quoted nor a block.
func SpellingAt(lines []string, at tree.Position) *Spelling {
	if at.Line < 1 || at.Line > len(lines) || at.Column < 1 {
		return nil
	}
	r := &speller{lines: lines, line: at.Line - 1}
	r.load()
	if at.Column > len(r.runes) {
		return nil
	}
	r.column = at.Column - 1 + Properties(r.runes[at.Column-1:])
	ok := false
	switch r.now() {
	case '"', '\'':
		ok = r.quoted()
	case '|', '>':
		ok = r.block()
	}
	if !ok || len(r.text) == 0 {
		return nil
	}
	return newSpelling(r.text, r.at)
}

func newSpelling(text []rune, at []spot) *Spelling {
	s := &Spelling{text: text, at: at, begins: []int{0}}
	for i, c := range text {
		if c == '\n' {
			s.begins = append(s.begins, i+1)
		}
	}
	return s
}

// SpellingOf returns the Spelling of a scalar of a file with these lines; nil if it is not known.
func SpellingOf(n *yaml.Node, lines []string) *Spelling {
	if n == nil || n.Kind != yaml.ScalarNode {
		return nil
	}
	s := SpellingAt(lines, tree.Position{Line: n.Line, Column: n.Column})
	if s == nil || string(s.text) != n.Value {
		return nil
	}
	return s
}

// As returns the Spelling of a text with the same characters but other blanks and line breaks, which change when
// kustomize writes folded text; nil if other characters differ.
func (s *Spelling) As(text string) *Spelling {
	if text == string(s.text) {
		return s
	}
	out, next := newSpelling([]rune(text), nil), 0
	for _, c := range out.text {
		if unicode.IsSpace(c) {
			out.at = append(out.at, s.at[min(next, len(s.at)-1)])
			continue
		}
		for next < len(s.text) && unicode.IsSpace(s.text[next]) {
			next++
		}
		if next == len(s.text) || s.text[next] != c {
			return nil
		}
		out.at = append(out.at, s.at[next])
		next++
	}
	return out
}

// Place returns the position in the file of a line and column of the text, both counted from 1; ok is false if the
// text has no such line.
func (s *Spelling) Place(line, column int) (at tree.Position, ok bool) {
	if line < 1 || line > len(s.begins) {
		return at, false
	}
	last := len(s.at) - 1
	if line < len(s.begins) {
		last = s.begins[line] - 1
	}
	spot := s.at[min(s.begins[line-1]+max(column-1, 0), last)]
	return tree.Position{Line: int(spot.line), Column: int(spot.column)}, true
}

// LineAt returns the line and column of the text at a position of the file; ok is false for a position outside of
// the text.
func (s *Spelling) LineAt(at tree.Position) (line, column int, ok bool) {
	for i, spot := range s.at {
		if int(spot.line) == at.Line && int(spot.column) == at.Column {
			line = sort.SearchInts(s.begins, i+1)
			return line, i - s.begins[line-1] + 1, true
		}
	}
	return 0, 0, false
}

// In returns the Spelling, in the file of a snippet, of a text in the snippet.
func (s *Spelling) In(outer *Snippet) *Spelling {
	out := &Spelling{s.text, make([]spot, len(s.at)), s.begins}
	for i, at := range s.at {
		pos := outer.place(int(at.line), int(at.column))
		out.at[i] = spot{int32(pos.Line), int32(pos.Column)}
	}
	return out
}

// holds reports whether a line of the file has a part of these lines of the text.
func (s *Spelling) holds(line, first, last int) bool {
	from, ok := s.Place(first, 1)
	to, _ := s.Place(min(last, len(s.begins)), 1<<30)
	return ok && from.Line <= line && line <= to.Line
}

// speller reads a text as go-yaml's scanner does.
type speller struct {
	lines        []string
	line, column int // of the file, counted from 0
	runes        []rune
	text         []rune
	at           []spot
}

// end is the character that a speller reads after the last line.
const end = rune(-1)

// load reads the line that the speller is on.
func (r *speller) load() {
	r.column, r.runes = 0, nil
	if r.line < len(r.lines) {
		r.runes = []rune(strings.TrimSuffix(r.lines[r.line], "\r"))
	}
}

// now returns the character that the speller is on.
func (r *speller) now() rune { return r.ahead(0) }

// ahead returns a character of the current line; '\n' after its end.
func (r *speller) ahead(by int) rune {
	switch {
	case r.column+by < len(r.runes):
		return r.runes[r.column+by]
	case r.line+1 < len(r.lines):
		return '\n'
	}
	return end
}

func (r *speller) next() {
	if r.column++; r.column > len(r.runes) {
		r.line++
		r.load()
	}
}

func (r *speller) spot() spot { return spot{int32(r.line) + 1, int32(r.column) + 1} }

func (r *speller) add(c rune, at spot) { r.text, r.at = append(r.text, c), append(r.at, at) }

// quoted reads a quoted text.
func (r *speller) quoted() bool {
	quote := r.now()
	r.next()
	for {
		folded, closed := r.piece(quote)
		if closed || r.now() == end {
			return closed
		}
		r.blanks(folded)
	}
}

// piece reads a quoted text up to the next blank or its end. folded is set if an escaped line break ends it.
func (r *speller) piece(quote rune) (folded, closed bool) {
	for {
		switch c := r.now(); {
		case c == ' ' || c == '\t' || c == '\n' || c == end:
			return false, false
		case c == quote && quote == '\'' && r.ahead(1) == quote:
			r.next()
			r.add(c, r.spot())
		case c == quote:
			return false, true
		case c == '\\' && quote == '"' && r.ahead(1) == '\n':
			r.next()
			r.next()
			return true, false
		case c == '\\' && quote == '"':
			r.escaped()
			continue
		default:
			r.add(c, r.spot())
		}
		r.next()
	}
}

// escapes maps the letters of escapes to their characters. Other letters stand for themselves.
var escapes = map[rune]rune{'0': 0, 'a': '\a', 'b': '\b', 't': '\t', 'n': '\n', 'v': '\v', 'f': '\f', 'r': '\r', 'e': 27, 'N': 0x85, '_': 0xa0, 'L': 0x2028, 'P': 0x2029}

// escaped reads an escape.
func (r *speller) escaped() {
	at := r.spot()
	r.next()
	c := r.now()
	r.next()
	digits := map[rune]int{'x': 2, 'u': 4, 'U': 8}[c]
	if other, ok := escapes[c]; ok {
		c = other
	}
	if digits > 0 && r.column+digits <= len(r.runes) {
		code, _ := strconv.ParseUint(string(r.runes[r.column:r.column+digits]), 16, 32) // go-yaml has read it
		c = rune(code)
		r.column += digits
	}
	r.add(c, at)
}

// blanks reads blanks and line breaks in a quoted text. A single line break becomes a space.
func (r *speller) blanks(folded bool) {
	before := len(r.text)
	broken, more := false, 0
	for c := r.now(); c == ' ' || c == '\t' || c == '\n'; c = r.now() {
		switch {
		case c != '\n' && !folded:
			r.add(c, r.spot())
		case c == '\n' && !folded:
			folded, broken = true, true
			r.text, r.at = r.text[:before], r.at[:before]
		case c == '\n':
			more++
			r.add(c, r.spot())
		}
		r.next()
	}
	if broken && more == 0 {
		r.add(' ', r.spot())
	}
}

// block reads a literal or folded text.
func (r *speller) block() bool {
	header := r.runes[r.column:]
	folds, keeps, strips := header[0] == '>', false, false
	indent := 0
	for _, c := range header[1:] {
		if c == ' ' || c == '\t' { // a comment follows
			break
		}
		keeps, strips = keeps || c == '+', strips || c == '-'
		if c >= '1' && c <= '9' {
			indent = r.outer() + int(c-'0')
		}
	}
	var last *spot // the line break of the last line with content
	var breaks []spot
	moreIndented, most := false, 0
	for r.line++; r.line < len(r.lines); r.line++ {
		r.load()
		spaces := len(r.runes) - len([]rune(strings.TrimLeft(string(r.runes), " ")))
		most = max(most, spaces)
		if indent == 0 && spaces < len(r.runes) {
			indent = max(most, 1)
		}
		ends := spot{int32(r.line) + 1, int32(len(r.runes)) + 1}
		if spaces == len(r.runes) && (spaces <= indent || indent == 0) {
			if r.line+1 < len(r.lines) {
				breaks = append(breaks, ends)
			}
			continue
		}
		if spaces < indent {
			break
		}
		blank := r.runes[indent] == ' ' || r.runes[indent] == '\t'
		r.column = indent
		switch {
		case last == nil:
		case folds && !moreIndented && !blank && len(breaks) == 0:
			r.add(' ', r.spot())
		case !folds || moreIndented || blank:
			r.add('\n', *last)
		}
		r.addBreaks(breaks)
		for breaks = nil; r.column < len(r.runes); r.column++ {
			r.add(r.runes[r.column], r.spot())
		}
		moreIndented, last = blank, &ends
	}
	if last != nil && !strips && int(last.line) < len(r.lines) {
		r.add('\n', *last)
	}
	if keeps {
		r.addBreaks(breaks)
	}
	return true
}

func (r *speller) addBreaks(all []spot) {
	for _, at := range all {
		r.add('\n', at)
	}
}

// outer returns the indentation of the collection that contains the block: that of its key or dash.
func (r *speller) outer() int {
	before := string(r.runes[:r.column])
	at := len(before) - len(strings.TrimLeft(before, " "))
	for strings.HasPrefix(before[at:], "- ") && strings.TrimSpace(before[at+2:]) != "" {
		at += 2
		at += len(before[at:]) - len(strings.TrimLeft(before[at:], " "))
	}
	return at
}
