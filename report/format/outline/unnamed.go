package outline

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/preadmit/preadmit/report"
)

// unnamed returns the message of a finding without the name and the namespace of its object:
// an API server that refuses many objects for the same reason names each in its message.
func unnamed(f *report.Finding) string {
	if f.Object == nil || f.Object.Name == "" {
		return f.Message
	}
	parts := strings.Split(f.Message, f.Object.Name)
	out := parts[0]
	for i, after := range parts[1:] {
		between := ellipsis
		if inName(utf8.DecodeLastRuneInString(parts[i])) || inName(utf8.DecodeRuneInString(after)) {
			between = f.Object.Name
		}
		out += between + after
	}
	if f.Object.Namespace != "" {
		out = strings.ReplaceAll(out, f.Object.Namespace+"/"+ellipsis, ellipsis)
	}
	return out
}

// inName reports whether a character next to a name makes it part of a longer name.
func inName(r rune, size int) bool {
	return size > 0 && (r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
}
