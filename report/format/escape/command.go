package escape

import (
	"strings"
	"unicode"
)

// Guard returns a complete line in a form that is no workflow command. GitHub Actions
// recognizes commands by "::" at the start of a line, after white space, and by "##["
// anywhere.
func Guard(line string) string {
	line = GuardLegacy(line)
	rest := strings.TrimLeftFunc(line, unicode.IsSpace)
	if !strings.HasPrefix(rest, "::") {
		return line
	}
	return line[:len(line)-len(rest)] + `\u003a` + rest[1:]
}

// GuardLegacy escapes "##[", the older start of a workflow command.
func GuardLegacy(s string) string { return strings.ReplaceAll(s, "##[", `##\u005b`) }

// CommandData escapes text for the data of a workflow command, as actions/runner decodes it
// (ActionCommand.cs). It may have several lines.
func CommandData(s string) string {
	s = GuardLegacy(strings.Join(Lines(s), "\n"))
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// CommandProperty escapes text for a property of a workflow command.
func CommandProperty(s string) string {
	return strings.NewReplacer("%", "%25", ":", "%3A", ",", "%2C").Replace(GuardLegacy(Text(s)))
}
