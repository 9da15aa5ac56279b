package origin

import (
	"strings"
	"unicode/utf8"

	"github.com/preadmit/preadmit/render/tree"
	"go.yaml.in/yaml/v3"
)

// Holds reports whether a position is in a snippet.
func (s *Snippet) Holds(at tree.Position) bool {
	if s.Whole != nil {
		return SameLine(*s.Whole, at)
	}
	if s.Spelling != nil {
		return s.Path == at.Path && s.Spelling.holds(at.Line, s.Line+1, s.Line+len(s.Lines))
	}
	return s.Path == at.Path && at.Line > s.Line && at.Line <= s.Line+len(s.Lines)
}

// Snippet is a piece of a file whose nodes were parsed separately.
type Snippet struct {
	Path  string
	Lines []string
	// Line is added to a node's line to get its line in the file, or in the text of Spelling.
	Line int
	// Spelling, if set, is the text in the file that contains the snippet.
	Spelling *Spelling
	// Whole, if set, is the position of all nodes of the snippet: the places of its characters are not known.
	Whole *tree.Position
	// parsed are the lines as the parser counts them.
	parsed tree.ParserLines
}

func NewSnippet(path, text string, line int) *Snippet {
	return &Snippet{Path: path, Lines: strings.Split(text, "\n"), Line: line, parsed: tree.NewParserLines(text)}
}

// Placed is Position with a second result that is always true.
func (s *Snippet) Placed(n *yaml.Node) (tree.Position, bool) { return s.Position(n), true }

// Position returns where a node is in the file, with its end if that is known.
func (s *Snippet) Position(n *yaml.Node) tree.Position {
	if s.Whole != nil {
		return *s.Whole
	}
	line, column := s.parsed.InFile(n.Line, n.Column)
	pos := s.place(line, column)
	if end := s.end(n, line, column); end > column {
		if last := s.place(line, end-1); last.Line == pos.Line {
			pos.EndLine, pos.EndColumn = pos.Line, last.Column+1
		}
	}
	return pos
}

// place returns the position in the file of a column of a line of the snippet.
func (s *Snippet) place(line, column int) tree.Position {
	pos := tree.Position{Line: s.Line + line, Column: column}
	if s.Spelling != nil {
		pos, _ = s.Spelling.Place(s.Line+line, column)
	}
	pos.Path = s.Path
	return pos
}

// end returns the column after a scalar that begins at a line and column and ends on this line; 0 for anything else.
func (s *Snippet) end(n *yaml.Node, at, column int) int {
	if n.Kind != yaml.ScalarNode || at < 1 || at > len(s.Lines) {
		return 0
	}
	line := []rune(strings.TrimSuffix(s.Lines[at-1], "\r"))
	if column < 1 || column > len(line) {
		return 0
	}
	start := column - 1 + Properties(line[column-1:])
	if start >= len(line) {
		return 0
	}
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		return Closing(line, start, '"', '\\')
	case n.Style&yaml.SingleQuotedStyle != 0:
		return Closing(line, start, '\'', '\'')
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return len(line) + 1
	case strings.HasPrefix(string(line[start:]), n.Value):
		return start + 1 + utf8.RuneCountInString(n.Value)
	}
	return 0
}

// Properties returns the width of an anchor and a tag before a value.
func Properties(line []rune) int {
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

// Closing returns the column after the quote that closes the one at start; 0 if it is not on the line.
func Closing(line []rune, start int, quote, escape rune) int {
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

// HopPosition returns the position to report for a field: for a scalar the value, for a mapping or list the
// key, for an element of a list its first line.
func HopPosition(h Pair, place func(*yaml.Node) (tree.Position, bool)) (tree.Position, bool) {
	if h.Value != nil && h.Value.Kind == yaml.ScalarNode {
		if pos, ok := place(h.Value); ok {
			return pos, true
		}
		return tree.Position{}, false
	}
	if h.Key != nil {
		if pos, ok := place(h.Key); ok {
			return pos, true
		}
	}
	return place(h.Value)
}

// Finder returns a function that finds fields below a node.
func Finder(root *yaml.Node, document tree.Position, place func(*yaml.Node) (tree.Position, bool)) func(string) (tree.Position, bool) {
	at := func(h Pair) (tree.Position, bool) { return HopPosition(h, place) }
	return func(path string) (tree.Position, bool) { return FindSteps(root, ParsePath(path), document, at) }
}

// FindSteps returns the position of a field, or of its nearest ancestor with a position; at returns where a
// field is written.
func FindSteps(root *yaml.Node, steps []PathStep, document tree.Position, at func(Pair) (tree.Position, bool)) (tree.Position, bool) {
	hops, complete := Descend(root, steps)
	for i := len(hops) - 1; i >= 0; i-- {
		if pos, ok := at(hops[i]); ok {
			return pos, complete && i == len(hops)-1
		}
	}
	return document, complete && len(hops) == 0
}

// IndentAt returns the number of leading spaces of a line, counted from 1.
func IndentAt(lines []string, n int) int {
	if n < 1 || n > len(lines) {
		return 0
	}
	return len(lines[n-1]) - len(strings.TrimLeft(lines[n-1], " "))
}
