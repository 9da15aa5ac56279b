package playground

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// drawnLine is a line of a message of the compiler of CEL: Before, At and After when it is one of the
// expression and a line of dots below ended with a caret under At.
type drawnLine struct {
	Before, At, After string
	Marked            bool
}

// below are the dots, and the caret, under a line of an expression: one for each character, wide ones
// under wide characters.
var below = regexp.MustCompile(`^( *\| )([.．]*)[\^＾]$`)

// drawn returns the lines of a message with the characters marked at which its carets point. A caret on
// a line of its own would be elsewhere where lines are wrapped or characters are wide.
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
