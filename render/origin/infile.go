package origin

import (
	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render/tree"
)

// InFile returns the position of a field in a YAML file; ok is false if the file does not have it.
func InFile(name string, data []byte, field string) (at tree.Position, ok bool) {
	doc := tree.ParseFile(data)
	if doc == nil {
		return at, false
	}
	return Finder(doc, tree.Position{Path: name}, func(n *yaml.Node) (tree.Position, bool) {
		return tree.Position{Path: name, Line: n.Line, Column: n.Column}, true
	})(field)
}

// InScalar converts a position in the text of a scalar to the position in the file. at is where the scalar begins in
// the file, whose lines are given. InScalar returns at itself for a scalar that is neither a block nor quoted.
func InScalar(lines []string, at tree.Position, text string, in tree.Position) tree.Position {
	if in.Line < 1 {
		return at
	}
	if s := SpellingAt(lines, at); s != nil {
		if s = s.As(text); s != nil {
			return inSpelling(s, at, in)
		}
	}
	if !isLiteral(lines, at) || at.Line+in.Line > len(lines) {
		return at
	}
	out := tree.Position{Path: at.Path, Line: at.Line + in.Line} // the text is another, but with the same lines
	if in.Column > 0 {
		shift := IndentAt(lines, at.Line+1) // of the text's first line, which has no indentation in the text
		out.Column = in.Column + shift
		if in.EndLine == in.Line {
			out.EndLine, out.EndColumn = out.Line, in.EndColumn+shift
		}
	}
	return out
}

// inSpelling is InScalar for a text whose Spelling is known.
func inSpelling(s *Spelling, at, in tree.Position) tree.Position {
	out, ok := s.Place(in.Line, in.Column)
	if !ok {
		return at
	}
	out.Path = at.Path
	if in.Column == 0 {
		out.Column = 0
	} else if in.EndLine == in.Line && in.EndColumn > in.Column {
		if last, ok := s.Place(in.Line, in.EndColumn-1); ok && last.Line == out.Line {
			out.EndLine, out.EndColumn = out.Line, last.Column+1
		}
	}
	return out
}

// InScalar returns the place of a position in the text at p. If the text is neither a block nor quoted, the place stays
// the same but is only Inferred: it is unknown which line of the text wrote the value.
func (p Place) InScalar(lines []string, text string, in tree.Position) Place {
	at := InScalar(lines, p.Position, text, in)
	if at == p.Position && p.Evidence == Marked {
		p.Evidence = Inferred
	}
	p.Position = at
	return p
}

// isLiteral reports whether a literal block begins at a position.
func isLiteral(lines []string, at tree.Position) bool {
	if at.Line < 1 || at.Line > len(lines) || at.Column < 1 {
		return false
	}
	line := []rune(lines[at.Line-1])
	if at.Column > len(line) {
		return false
	}
	rest := line[at.Column-1:]
	rest = rest[min(Properties(rest), len(rest)):]
	return len(rest) > 0 && rest[0] == '|'
}
