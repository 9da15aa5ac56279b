package argocd

import (
	"context"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// written returns where a field of the Application is written, or the nearest known place.
func (u *unit) written(field string) tree.Position {
	if at := u.root.Unit.Position(context.Background(), field); at.Path != "" {
		return at
	}
	return tree.Position{Path: u.root.Dir}
}

// field returns the path of a field of the source in the Application.
func (p *part) field(name string) string {
	if name == "" {
		return p.app.SourceField(p.index)
	}
	return p.app.SourceField(p.index) + "." + name
}

// place returns where a field of the source is written: in a file that overrides it, or else in the Application.
func (p *part) place(name string) origin.Place {
	for _, o := range slices.Backward(p.overridden) {
		text, _, isText := origin.CutText(name)
		if at, ok := origin.InFile(o.path, o.data, text); ok {
			return origin.Place{Position: at, Evidence: origin.Marked, IsText: isText}
		}
	}
	return p.root.Unit.Place(context.Background(), p.field(name))
}

// linesOf returns the lines of a file; nil if it cannot be read.
func (u *unit) linesOf(name string) []string {
	data, err := u.tree.Read(u.tree.RealOr(name))
	if err != nil {
		return nil
	}
	return strings.Split(string(data), "\n")
}
