package lines

import (
	"context"
	"strings"
	"unicode"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
)

// Within returns the place of a line and column, counted from 1 and in code
// points, inside a text field: in YAML block scalars of several lines, too. When
// the place cannot be followed into the file, it is that of the field.
func (l *Locator) Within(ctx context.Context, o *admission.Object, field string, line, column int) report.Location {
	loc, _ := l.Place(ctx, o, []string{field}) // an error leaves the root
	text, ok := textAt(o.Content(), field)
	if !ok || loc.StartLine == 0 {
		return loc
	}
	from := change.OriginOf(o)
	source, err := l.source(ctx, o)
	if err != nil {
		return loc
	}
	pos, found := source.Find(field)
	if !found {
		return loc
	}
	lines := l.texts.lines(from.Side, pos.Path)
	at, ok := follow(lines, spot{pos.Line - 1, pos.Column - 1}, []rune(text), offsetOf(text, line, column))
	if !ok {
		return loc
	}
	loc.StartLine, loc.StartColumn = at.line+1, at.column+1
	loc.EndLine, loc.EndColumn = loc.StartLine, at.column+1+wordLength([]rune(lines[at.line])[at.column:])
	loc.Snippet, loc.SnippetLine = nil, 0
	l.addSnippet(&loc, from.Side, pos.Path, false)
	return loc
}

// textAt is the string at a field path.
func textAt(content map[string]any, field string) (string, bool) {
	value, _ := origin.Field(content, field)
	text, ok := value.(string)
	return text, ok
}

// offsetOf counts the code points before a line and column.
func offsetOf(text string, line, column int) int {
	offset := 0
	for i, l := range strings.SplitAfter(text, "\n") {
		if i == line-1 {
			return offset + column - 1
		}
		offset += len([]rune(l))
	}
	return offset
}

// spot is a place in lines, counted from 0.
type spot struct{ line, column int }

// follow walks a scalar as written and its value side by side, to the code point
// of the value at offset. Indentation, folding and line breaks make white space
// differ, and nothing else, but for the escapes of quoted scalars.
func follow(lines []string, start spot, value []rune, offset int) (spot, bool) {
	w := &scalarWalk{lines: lines, at: start}
	if !w.enter() {
		return spot{}, false
	}
	for i, r := range value {
		if unicode.IsSpace(r) {
			if i == offset {
				return w.bounded(w.at)
			}
			continue
		}
		if !w.next(r) {
			return spot{}, false
		}
		if i >= offset {
			return w.bounded(w.last)
		}
	}
	if offset > len(value) {
		return spot{}, false
	}
	// The end of the text: behind what was read last.
	return w.bounded(spot{w.last.line, w.last.column + 1})
}

// bounded reports whether a place is in the lines, or right behind one.
func (w *scalarWalk) bounded(s spot) (spot, bool) {
	ok := s.line >= 0 && s.line < len(w.lines) && s.column >= 0 && s.column <= len([]rune(w.lines[s.line]))
	return s, ok
}

// scalarWalk reads a scalar of a YAML file.
type scalarWalk struct {
	lines []string
	at    spot // what is read next
	last  spot // where what was read last begins
	quote rune // of a quoted scalar, else 0
}

// enter steps over the quote or the block indicator that the scalar begins with.
func (w *scalarWalk) enter() bool {
	r, ok := w.peek()
	switch {
	case !ok:
		return false
	case r == '"' || r == '\'':
		w.quote = r
		w.at.column++
	case r == '|' || r == '>':
		w.at = spot{w.at.line + 1, 0}
	}
	w.last = w.at
	return w.inside()
}

func (w *scalarWalk) inside() bool { return w.at.line >= 0 && w.at.line < len(w.lines) }

// peek returns the rune at the place; ok is false at the end of a line.
func (w *scalarWalk) peek() (r rune, ok bool) {
	if !w.inside() {
		return 0, false
	}
	line := []rune(w.lines[w.at.line])
	if w.at.column < 0 || w.at.column >= len(line) {
		return 0, false
	}
	return line[w.at.column], true
}

// next steps over the rune want of the value, and the white space before it.
func (w *scalarWalk) next(want rune) bool {
	w.skipSpace()
	r, ok := w.peek()
	if !ok {
		return false
	}
	w.last = w.at
	w.at.column++
	switch {
	case r == '\\' && w.quote == '"':
		return w.escaped(want)
	case r == '\'' && w.quote == '\'':
		w.at.column++ // written twice
	}
	return r == want
}

// escaped reads the rune behind a backslash; those written as numbers are not
// followed.
func (w *scalarWalk) escaped(want rune) bool {
	r, ok := w.peek()
	w.at.column++
	return ok && r == want && strings.ContainsRune(`"\/`, r)
}

// skipSpace steps over white space as written: blanks, line breaks, and in double
// quotes the escapes that stand for some.
func (w *scalarWalk) skipSpace() {
	for w.inside() {
		r, ok := w.peek()
		switch {
		case !ok:
			w.at = spot{w.at.line + 1, 0}
		case unicode.IsSpace(r):
			w.at.column++
		case r == '\\' && w.quote == '"' && w.spaceEscape():
			w.at.column += 2
		default:
			return
		}
	}
}

func (w *scalarWalk) spaceEscape() bool {
	ahead := scalarWalk{lines: w.lines, at: spot{w.at.line, w.at.column + 1}}
	r, ok := ahead.peek()
	return !ok || strings.ContainsRune("nrt ", r)
}

// wordLength is the length of the name or number a line begins with, at least 1.
func wordLength(line []rune) int {
	n := 0
	for n < len(line) && (line[n] == '_' || unicode.IsLetter(line[n]) || unicode.IsDigit(line[n])) {
		n++
	}
	return max(n, 1)
}
