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

// InLiteral converts a position in the text of a literal block to the position in the file: each line of the
// text is a line of the file. at is where the block begins in the file, whose lines are given. InLiteral
// returns at itself for a text that is no literal block.
func InLiteral(lines []string, at, in tree.Position) tree.Position {
	if in.Line < 1 || at.Line+in.Line > len(lines) || !isLiteral(lines, at) {
		return at
	}
	out := tree.Position{Path: at.Path, Line: at.Line + in.Line}
	if in.Column > 0 {
		shift := IndentAt(lines, at.Line+1) // of the text's first line, which has no indentation in the text
		out.Column = in.Column + shift
		if in.EndLine == in.Line {
			out.EndLine, out.EndColumn = out.Line, in.EndColumn+shift
		}
	}
	return out
}

// InLiteral returns the place of a position in the text at p. If the text is no literal block, the place stays
// the same but is only Inferred: it is unknown which line of the text wrote the value.
func (p Place) InLiteral(lines []string, in tree.Position) Place {
	at := InLiteral(lines, p.Position, in)
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
