package escape

import (
	"html"
	"strings"
	"unicode"
)

// HTML is one line of text for HTML, inside of an element or of a quoted
// attribute.
func HTML(s string) string { return html.EscapeString(Text(s)) }

// GuardHTML is Guard for HTML: a browser shows the same. The text of style elements,
// where nothing stands for a character, must have no need of it.
func GuardHTML(doc string) string {
	doc = strings.ReplaceAll(doc, "##[", "##&#91;")
	var b strings.Builder
	for line := range strings.Lines(doc) {
		if rest, ok := strings.CutPrefix(strings.TrimLeftFunc(line, unicode.IsSpace), "::"); ok {
			b.WriteString(line[:len(line)-len("::")-len(rest)] + "&#58;&#58;")
			line = rest
		}
		b.WriteString(line)
	}
	return b.String()
}
