package text

import (
	"strings"
	"unicode"

	"github.com/preadmit/preadmit/render/origin"
)

// At returns the string at a field path.
func At(content map[string]any, field string) (string, bool) {
	value, _ := origin.Field(content, field)
	text, ok := value.(string)
	return text, ok
}

// Offset returns the number of code points before a line and column.
func Offset(text string, line, column int) int {
	offset := 0
	for i, l := range strings.SplitAfter(text, "\n") {
		if i == line-1 {
			return offset + column - 1
		}
		offset += len([]rune(l))
	}
	return offset
}

// Spot is a place in lines, counted from 0.
type Spot struct{ Line, Column int }

// Follow reads a scalar as written and its value in parallel, up to the code point of the value at
// offset. Both may differ only in white space, because of indentation, folding and line breaks, and
// in escapes of quoted scalars.
func Follow(lines []string, start Spot, value []rune, offset int) (Spot, bool) {
	w := &scalarWalk{lines: lines, at: start}
	if !w.enter() {
		return Spot{}, false
	}
	for i, r := range value {
		if unicode.IsSpace(r) {
			if i == offset {
				return w.bounded(w.at)
			}
			continue
		}
		if !w.next(r) {
			return Spot{}, false
		}
		if i >= offset {
			return w.bounded(w.last)
		}
	}
	if offset > len(value) {
		return Spot{}, false
	}
	// The end of the text: after the last rune.
	return w.bounded(Spot{w.last.Line, w.last.Column + 1})
}

// bounded reports whether a place is in the lines, or directly after one.
func (w *scalarWalk) bounded(s Spot) (Spot, bool) {
	ok := s.Line >= 0 && s.Line < len(w.lines) && s.Column >= 0 && s.Column <= len([]rune(w.lines[s.Line]))
	return s, ok
}

// scalarWalk reads a scalar of a YAML file.
type scalarWalk struct {
	lines []string
	at    Spot // the next rune
	last  Spot // the last rune that was read
	quote rune // the quote of a quoted scalar, else 0
}

// enter skips the quote or the block indicator at the start of the scalar.
func (w *scalarWalk) enter() bool {
	r, ok := w.peek()
	switch {
	case !ok:
		return false
	case r == '"' || r == '\'':
		w.quote = r
		w.at.Column++
	case r == '|' || r == '>':
		w.at = Spot{w.at.Line + 1, 0}
	}
	w.last = w.at
	return w.inside()
}

func (w *scalarWalk) inside() bool { return w.at.Line >= 0 && w.at.Line < len(w.lines) }

// peek returns the next rune; ok is false at the end of a line.
func (w *scalarWalk) peek() (r rune, ok bool) {
	if !w.inside() {
		return 0, false
	}
	line := []rune(w.lines[w.at.Line])
	if w.at.Column < 0 || w.at.Column >= len(line) {
		return 0, false
	}
	return line[w.at.Column], true
}

// next skips white space and then the rune want, and reports whether it is there.
func (w *scalarWalk) next(want rune) bool {
	w.skipSpace()
	r, ok := w.peek()
	if !ok {
		return false
	}
	w.last = w.at
	w.at.Column++
	switch {
	case r == '\\' && w.quote == '"':
		return w.escaped(want)
	case r == '\'' && w.quote == '\'':
		w.at.Column++ // written twice
	}
	return r == want
}

// escaped reads the rune after a backslash. Numeric escapes are not supported.
func (w *scalarWalk) escaped(want rune) bool {
	r, ok := w.peek()
	w.at.Column++
	return ok && r == want && strings.ContainsRune(`"\/`, r)
}

// skipSpace skips white space as written: blanks, line breaks and, in double quotes, escapes for
// white space.
func (w *scalarWalk) skipSpace() {
	for w.inside() {
		r, ok := w.peek()
		switch {
		case !ok:
			w.at = Spot{w.at.Line + 1, 0}
		case unicode.IsSpace(r):
			w.at.Column++
		case r == '\\' && w.quote == '"' && w.spaceEscape():
			w.at.Column += 2
		default:
			return
		}
	}
}

func (w *scalarWalk) spaceEscape() bool {
	ahead := scalarWalk{lines: w.lines, at: Spot{w.at.Line, w.at.Column + 1}}
	r, ok := ahead.peek()
	return !ok || strings.ContainsRune("nrt ", r)
}
