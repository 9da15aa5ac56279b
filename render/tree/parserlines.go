package tree

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ParserLines are the lines of a text as YAML's parser counts them. It also ends a line at a carriage return without a
// line feed and at the characters U+0085, U+2028 and U+2029, at which editors and git do not. Nil means that there are
// none of these.
type ParserLines []lineStart

// lineStart is where a line of the parser begins: a line of the file, from 1, and how many characters are before it.
type lineStart struct{ line, column int }

// otherBreaks are the characters other than line feeds at which the parser ends a line.
var otherBreaks = []string{"\r", "\u0085", "\u2028", "\u2029"}

// NewParserLines returns the lines of a text.
func NewParserLines(text string) ParserLines {
	if !slices.ContainsFunc(otherBreaks, func(end string) bool { return strings.Contains(text, end) }) {
		return nil
	}
	at := lineStart{line: 1}
	starts := ParserLines{at}
	for i, c := range text {
		at.column++
		switch {
		case c == '\n':
			at = lineStart{line: at.line + 1}
		case c == '\r' && strings.HasPrefix(text[i+1:], "\n"), c != '\r' && c != '\u0085' && c != '\u2028' && c != '\u2029':
			continue
		}
		starts = append(starts, at)
	}
	return starts
}

// InFile converts a line and a column of the parser to those of the file.
func (l ParserLines) InFile(line, column int) (int, int) {
	if line < 1 || line > len(l) {
		return line, column
	}
	start := l[line-1]
	return start.line, start.column + column
}

// Move converts the positions of a node and of those below it.
func (l ParserLines) Move(n *yaml.Node) {
	if l == nil {
		return
	}
	n.Line, n.Column = l.InFile(n.Line, n.Column)
	for _, child := range n.Content {
		l.Move(child)
	}
}

// CountParserLines returns the number of lines of a text as YAML's parser counts them.
func CountParserLines(text string) int {
	if l := NewParserLines(text); l != nil {
		return len(l)
	}
	return strings.Count(text, "\n") + 1
}

// ParseFile parses the first document of a file for positions, which are those of the file; nil if it is empty or
// invalid.
func ParseFile(data []byte) *yaml.Node {
	var doc yaml.Node
	if yaml.Unmarshal(data, &doc) != nil || len(doc.Content) == 0 {
		return nil
	}
	NewParserLines(string(data)).Move(doc.Content[0])
	return doc.Content[0]
}
