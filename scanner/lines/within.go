package lines

import (
	"context"
	"unicode"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/lines/text"
)

// Within returns the place of a line and column, counted from 1 and in code points, inside a text
// field, including YAML block scalars of several lines. If the place has no counterpart in the
// file, it returns the place of the field.
func (l *Locator) Within(ctx context.Context, o *admission.Object, field string, line, column int) report.Location {
	loc, _ := l.Place(ctx, o, []string{field}) // an error leaves the root
	value, ok := text.At(o.Content(), field)
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
	at, ok := text.Follow(lines, text.Spot{Line: pos.Line - 1, Column: pos.Column - 1}, []rune(value), text.Offset(value, line, column))
	if !ok {
		return loc
	}
	loc.StartLine, loc.StartColumn = at.Line+1, at.Column+1
	loc.EndLine, loc.EndColumn = loc.StartLine, at.Column+1+wordLength([]rune(lines[at.Line])[at.Column:])
	loc.Snippet, loc.SnippetLine = nil, 0
	l.addSnippet(&loc, from.Side, pos.Path, false)
	return loc
}

// wordLength returns the length of the name or number at the start of a line, at least 1.
func wordLength(line []rune) int {
	n := 0
	for n < len(line) && (line[n] == '_' || unicode.IsLetter(line[n]) || unicode.IsDigit(line[n])) {
		n++
	}
	return max(n, 1)
}
