package cli

import (
	"io"
	"os"

	"golang.org/x/term"
)

// isTerminal reports whether a stream is a terminal with support for escape sequences.
func isTerminal(p Process, stream io.Writer) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd())) && p.Getenv("TERM") != "dumb"
}

// UseColor decides on colour for stdout: when is auto, always or never. NO_COLOR
// (no-color.org) counts when it is set to anything but the empty string.
func UseColor(p Process, when string) bool {
	switch when {
	case "always":
		return true
	case "never":
		return false
	}
	return p.Getenv("NO_COLOR") == "" && isTerminal(p, p.Stdout)
}

// Columns returns the width of a terminal, 0 for other streams.
func Columns(stream io.Writer) int {
	file, ok := stream.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return width
}
