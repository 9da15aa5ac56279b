package markdown

import (
	"strings"
	"unicode/utf8"

	"github.com/preadmit/preadmit/report/format/outline"
)

// leftOutRunes is room for the sentence on what does not fit.
const leftOutRunes = 400

// limitedText is text within a limit. It takes pieces as a whole or not at all, so that
// nothing that is open at a cut - a code span, a fence, an entity, an element - needs
// to be closed: each piece closes what it opens. Once one does not fit no other item
// is taken, or what is left out would not be the least important.
type limitedText struct {
	b     strings.Builder
	limit int // in code points; 0 is none
	used  int
	// kept is room for what must come at the end.
	kept int
	full bool
	// left counts what was left out, by what it is, in the order of lost.
	left map[string]int
	lost []string
}

// fits reports whether text has room.
func (s *limitedText) fits(text string) bool {
	return s.limit <= 0 || !s.full && s.used+s.kept+utf8.RuneCountInString(text) <= s.limit
}

// put takes a piece that is no item; one without room is dropped.
func (s *limitedText) put(text string) {
	if !s.fits(text) {
		return
	}
	s.b.WriteString(text)
	s.used += utf8.RuneCountInString(text)
}

// item takes a piece that stands for n of what noun names, or counts it as left out.
func (s *limitedText) item(text, noun string, n int) {
	if !s.fits(text) {
		s.leave(noun, n)
		return
	}
	s.put(text)
}

// leave counts n as left out.
func (s *limitedText) leave(noun string, n int) {
	s.full = true
	if s.left == nil {
		s.left = map[string]int{}
	}
	if s.left[noun] == 0 {
		s.lost = append(s.lost, noun)
	}
	s.left[noun] += n
}

// reserve keeps room for a piece and more characters until end.
func (s *limitedText) reserve(text string, more int) { s.kept += utf8.RuneCountInString(text) + more }

// end puts a piece that room was reserved for.
func (s *limitedText) end(text string) {
	n := utf8.RuneCountInString(text)
	s.kept -= n
	if s.limit <= 0 || s.used+n <= s.limit {
		s.b.WriteString(text)
		s.used += n
	}
}

// leftOut says what had no room; empty if all had.
func (s *limitedText) leftOut() string {
	var parts []string
	for _, noun := range s.lost {
		parts = append(parts, outline.Count(s.left[noun], noun))
	}
	if len(parts) == 0 {
		return ""
	}
	return "\n**Left out for size:** " + strings.Join(parts, ", ") + ".\n"
}

// String is the text.
func (s *limitedText) String() string { return s.b.String() }
