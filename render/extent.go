package render

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// snippet is a piece of a file whose nodes were parsed on their own.
type snippet struct {
	path  string
	lines []string
	// line and column are what to add to a node's to get its place in the file.
	line   int
	column func(line int) int
	// whole, when set, is where everything in the snippet is said to be: its lines
	// are not lines of the file.
	whole *Position
}

func newSnippet(path, text string, line int) *snippet {
	return &snippet{path: path, lines: strings.Split(text, "\n"), line: line}
}

// position is where a node lies in the file, with its end when that can be told.
func (s *snippet) position(n *yaml.Node) Position {
	if s.whole != nil {
		return *s.whole
	}
	pos := Position{Path: s.path, Line: s.line + n.Line, Column: n.Column}
	shift := 0
	if s.column != nil {
		shift = s.column(n.Line)
		pos.Column += shift
	}
	if end := s.end(n); end > 0 {
		pos.EndLine, pos.EndColumn = pos.Line, end+shift
	}
	return pos
}

// end is the column after a scalar written on one line; 0 for anything else.
func (s *snippet) end(n *yaml.Node) int {
	if n.Kind != yaml.ScalarNode || n.Line < 1 || n.Line > len(s.lines) {
		return 0
	}
	line := []rune(strings.TrimSuffix(s.lines[n.Line-1], "\r"))
	if n.Column < 1 || n.Column > len(line) {
		return 0
	}
	start := n.Column - 1 + properties(line[n.Column-1:])
	if start >= len(line) {
		return 0
	}
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		return closing(line, start, '"', '\\')
	case n.Style&yaml.SingleQuotedStyle != 0:
		return closing(line, start, '\'', '\'')
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return len(line) + 1
	case strings.HasPrefix(string(line[start:]), n.Value):
		return start + 1 + utf8.RuneCountInString(n.Value)
	}
	return 0
}

// properties is the width of an anchor and a tag before a value.
func properties(line []rune) int {
	at := 0
	for at < len(line) && (line[at] == '&' || line[at] == '!') {
		for at < len(line) && line[at] != ' ' {
			at++
		}
		for at < len(line) && line[at] == ' ' {
			at++
		}
	}
	return at
}

// closing is the column after the quote that closes the one at start.
func closing(line []rune, start int, quote, escape rune) int {
	for i := start + 1; i < len(line); i++ {
		switch {
		case line[i] == escape && escape != quote:
			i++
		case line[i] == quote && escape == quote && i+1 < len(line) && line[i+1] == quote:
			i++
		case line[i] == quote:
			return i + 2
		}
	}
	return 0
}

// hopPosition is where a field is pointed at: a scalar at its value, a mapping
// or list at its key, an element of a list at its first line.
func hopPosition(h hop, place func(*yaml.Node) (Position, bool)) (Position, bool) {
	if h.value != nil && h.value.Kind == yaml.ScalarNode {
		if pos, ok := place(h.value); ok {
			return pos, true
		}
		return Position{}, false
	}
	if h.key != nil {
		if pos, ok := place(h.key); ok {
			return pos, true
		}
	}
	return place(h.value)
}

// finder makes the Find of a Source.
func finder(root *yaml.Node, document Position, place func(*yaml.Node) (Position, bool)) func(string) (Position, bool) {
	return func(path string) (Position, bool) { return findSteps(root, parsePath(path), document, place) }
}

func findSteps(root *yaml.Node, steps []fieldStep, document Position, place func(*yaml.Node) (Position, bool)) (Position, bool) {
	hops, complete := descendPath(root, steps)
	for i := len(hops) - 1; i >= 0; i-- {
		if pos, ok := hopPosition(hops[i], place); ok {
			return pos, complete && i == len(hops)-1
		}
	}
	return document, complete && len(hops) == 0
}
