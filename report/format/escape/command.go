package escape

import (
	"strings"
	"unicode"
)

// Guard keeps a finished line from being taken for a workflow command, which
// GitHub Actions recognizes by "::" at the start of a line, blanks aside, and by
// "##[" anywhere.
func Guard(line string) string {
	line = GuardLegacy(line)
	rest := strings.TrimLeftFunc(line, unicode.IsSpace)
	if !strings.HasPrefix(rest, "::") {
		return line
	}
	return line[:len(line)-len(rest)] + `\u003a` + rest[1:]
}

// GuardLegacy writes the older mark of a workflow command as an escape.
func GuardLegacy(s string) string { return strings.ReplaceAll(s, "##[", `##\u005b`) }

// CommandData is text for the end of a workflow command, as actions/runner reads it
// back (ActionCommand.cs); it may have several lines.
func CommandData(s string) string {
	s = GuardLegacy(strings.Join(Lines(s), "\n"))
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// CommandProperty is text for a property of a workflow command.
func CommandProperty(s string) string {
	return strings.NewReplacer("%", "%25", ":", "%3A", ",", "%2C").Replace(GuardLegacy(Text(s)))
}
