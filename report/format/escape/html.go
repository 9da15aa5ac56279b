package escape

import (
	"html"
	"strings"
	"unicode"
)

// HTML escapes one line of text for HTML, inside an element or a quoted attribute.
func HTML(s string) string { return html.EscapeString(Text(s)) }

// GuardHTML is Guard for an HTML document; a browser shows the same. Style elements have no
// character references, so their text must not need it.
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
