package origin

import (
	"github.com/preadmit/preadmit/render/tree"
)

func SameLine(a, b tree.Position) bool { return a.Path == b.Path && a.Line == b.Line }

func Start(p tree.Position) tree.Position {
	return tree.Position{Path: p.Path, Line: p.Line, Column: p.Column}
}
