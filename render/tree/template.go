package tree

import (
	"bytes"
	"regexp"
)

// firstStatement returns the line of the first statement in a template of another tool: of Go, Jinja, ERB or FreeMarker.
// It is 0 if the text, which is not YAML, is no template. A template has statements where YAML has an entry, a key or a
// value. In quotes, in block scalars and within other text they may belong to a value of a broken manifest, such as the
// annotations of an alert.
func firstStatement(text []byte) int {
	inBlock, column, number := false, 0, 0
	for line := range bytes.Lines(text) {
		number++
		line = bytes.TrimRight(line, "\r\n")
		content := bytes.TrimLeft(line, " ")
		switch {
		case len(content) == 0:
			continue
		case inBlock && len(line)-len(content) > column:
			continue
		case statement.Match(line):
			return number
		}
		if header := block.FindSubmatchIndex(line); header != nil {
			// The content is indented more than the key before it, or else than the last dash.
			if inBlock, column = true, header[4]; column < 0 {
				column = max(bytes.LastIndexByte(line[:header[3]], '-'), 0)
			}
		} else {
			inBlock = false
		}
	}
	return 0
}

var (
	// statement matches a line with a statement where an entry, a key or a value begins, also of a flow mapping or list.
	statement = regexp.MustCompile(`^[ \t]*(?:[-?][ \t]+)*(?:(?:[^\s"'#{}\[\]:<][^"'#{}\[\]:]*|"[^"]*"|'[^']*')[ \t]*:[ \t]+)?(?:[!&]\S+[ \t]+)*` +
		`(?:[\[{](?:(?:[^"']|"[^"]*"|'[^']*')*?[\[{,:])?[ \t]*)?(?:\{\{|\{%|<%|</?#)`)
	// block matches the line before a block scalar, with the place of its dashes and of its key.
	block = regexp.MustCompile(`^([ \t]*(?:[-?][ \t]+)*)([^\s#-].*?:)?[ \t]*(?:[!&]\S+[ \t]+)*[|>][-+0-9]*[ \t]*(?:[ \t]#.*)?$`)
)
