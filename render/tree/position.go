package tree

import (
	"fmt"
	"strings"
)

func ComparePositions(a, b Position) int {
	if c := strings.Compare(a.Path, b.Path); c != 0 {
		return c
	}
	if a.Line != b.Line {
		return a.Line - b.Line
	}
	return a.Column - b.Column
}

// Position is a place in a file of a tree. Line and Column count from 1; a zero Line means the whole file.
type Position struct {
	Path   string
	Line   int
	Column int
	// EndLine and EndColumn are the end of the range; EndColumn is exclusive, as in SARIF. They are zero if only the
	// start is known.
	EndLine   int
	EndColumn int
}

func (p Position) String() string {
	switch {
	case p.Line == 0:
		return p.Path
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.Path, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.Path, p.Line, p.Column)
}
