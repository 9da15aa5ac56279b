package report

import (
	"strings"

	"github.com/preadmit/preadmit/scanner"
)

// style is the parameters of an ANSI SGR sequence; empty means no colour. Only the
// sixteen colours every terminal theme defines are used.
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

func actionStyle(a scanner.Action) style {
	switch a {
	case scanner.ActionDeny:
		return red
	case scanner.ActionWarn:
		return yellow
	}
	return blue
}

// span is a piece of a line in one style.
type span struct {
	text  string
	style style
}

// paint joins spans into a line with colours, without blanks at its end.
func paint(spans []span) string {
	var b strings.Builder
	for i, s := range spans {
		text := s.text
		if i == len(spans)-1 {
			text = strings.TrimRight(text, " ")
		}
		if s.style == plainStyle || text == "" {
			b.WriteString(text)
			continue
		}
		b.WriteString("\x1b[" + string(s.style) + "m" + text + "\x1b[0m")
	}
	return b.String()
}

func blanks(n int) span { return span{strings.Repeat(" ", n), plainStyle} }

func padLeft(s string, width int) string {
	return strings.Repeat(" ", max(0, width-displayWidth(s))) + s
}
