package playground

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// drawnLine is a line of an error message of the CEL compiler. If the line is one of the expression,
// and the next line had a caret, At is the character above the caret; Before and After are the rest.
type drawnLine struct {
	Before, At, After string
	Marked            bool
}

// below matches the line of dots with a caret under a line of an expression. It has one dot for each
// character, a wide one under a wide character.
var below = regexp.MustCompile(`^( *\| )([.．]*)[\^＾]$`)

// drawn returns the lines of a message with the characters above its carets marked. A caret on
// its own line would be misplaced where lines are wrapped or characters are wide.
func drawn(text string) []drawnLine {
	var out []drawnLine
	for line := range strings.SplitSeq(text, "\n") {
		caret := below.FindStringSubmatch(line)
		if caret == nil || len(out) == 0 || out[len(out)-1].Marked || !strings.HasPrefix(out[len(out)-1].Before, caret[1]) {
			out = append(out, drawnLine{Before: line})
			continue
		}
		above := &out[len(out)-1]
		at := len(caret[1])
		for range utf8.RuneCountInString(caret[2]) {
			_, size := utf8.DecodeRuneInString(above.Before[at:])
			at += size
		}
		_, size := utf8.DecodeRuneInString(above.Before[at:])
		*above = drawnLine{above.Before[:at], above.Before[at : at+size], above.Before[at+size:], true}
		if above.At == "" {
			above.At = " " // after the end
		}
	}
	return out
}
