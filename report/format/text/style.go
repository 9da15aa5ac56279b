package text

import (
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report/format/outline"
)

// style has the parameters of an ANSI SGR sequence; empty means no colour. Styles use
// only the sixteen colours that every terminal theme defines.
type style string

const (
	plainStyle style = ""
	bold       style = "1"
	dim        style = "2"
	gutter     style = "2;36"
	red        style = "1;31"
	yellow     style = "1;33"
	blue       style = "1;34"
	green      style = "1;32"
)

func classStyle(c outline.Class) style {
	switch {
	case c == "":
		return green
	case c.Denies():
		return red
	case c == outline.Warning:
		return yellow
	}
	return blue
}

// span is a piece of a line in one style.
type span struct {
	text  string
	style style
}

// paint joins spans into a line with colours.
func paint(spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		if s.style == plainStyle || s.text == "" {
			b.WriteString(s.text)
			continue
		}
		b.WriteString("\x1b[" + string(s.style) + "m" + s.text + "\x1b[0m")
	}
	return b.String()
}

// bare returns the text of spans without colours.
func bare(spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.text)
	}
	return b.String()
}

// trimEnd returns spans without the spaces at the end of the line.
func trimEnd(spans []span) []span {
	for n := len(spans); n > 0; n-- {
		if text := strings.TrimRight(spans[n-1].text, " "); text != "" {
			return append(slices.Clone(spans[:n-1]), span{text, spans[n-1].style})
		}
	}
	return nil
}

func blanks(n int) span { return span{strings.Repeat(" ", n), plainStyle} }
