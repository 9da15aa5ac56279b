package outline

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/preadmit/preadmit/report"
)

// unnamed is the message of a finding without the name of its object, and the namespace
// before it: an API server that refuses many objects for one reason names each.
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

// inName reports whether a character beside a name makes it part of another name.
func inName(r rune, size int) bool {
	return size > 0 && (r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
}
