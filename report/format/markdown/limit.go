package markdown

import (
	"strings"
	"unicode/utf8"

	"github.com/preadmit/preadmit/report/format/outline"
)

// leftOutRunes is the room reserved for the sentence on what does not fit.
const leftOutRunes = 400

// limitedText is text within a limit. It accepts pieces completely or not at all: each
// piece closes the code spans, fences and elements it opens, so none is open at the cut.
// After the first item that does not fit, it accepts no other item, so that the items left
// out are the least important ones.
type limitedText struct {
	b     strings.Builder
	limit int // in code points; 0 means no limit
	used  int
	// kept is the room reserved for the end.
	kept int
	full bool
	// left counts the items left out, by noun. lost has the nouns in order.
	left map[string]int
	lost []string
}

// fits reports whether text has room.
func (s *limitedText) fits(text string) bool {
	return s.limit <= 0 || !s.full && s.used+s.kept+utf8.RuneCountInString(text) <= s.limit
}

// put writes a piece that is no item, if it fits.
func (s *limitedText) put(text string) {
	if !s.fits(text) {
		return
	}
	s.b.WriteString(text)
	s.used += utf8.RuneCountInString(text)
}

// item writes a piece that stands for n of noun, or counts it as left out.
func (s *limitedText) item(text, noun string, n int) {
	if !s.fits(text) {
		s.leave(noun, n)
		return
	}
	s.put(text)
}

// leave counts n of noun as left out.
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

// reserve reserves room for a piece to pass to end, and for more characters.
func (s *limitedText) reserve(text string, more int) { s.kept += utf8.RuneCountInString(text) + more }

// end writes a piece for which room was reserved.
func (s *limitedText) end(text string) {
	n := utf8.RuneCountInString(text)
	s.kept -= n
	if s.limit <= 0 || s.used+n <= s.limit {
		s.b.WriteString(text)
		s.used += n
	}
}

// leftOut returns a sentence on what was left out, "" if nothing was.
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

// String returns the text.
func (s *limitedText) String() string { return s.b.String() }
