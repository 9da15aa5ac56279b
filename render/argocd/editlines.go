package argocd

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// encode encodes the file, and sets the node of each line.
func (e *edited) encode(doc *yaml.Node) error {
	data, err := yaml.Marshal(doc)
	if err != nil {
		return err
	}
	var again yaml.Node
	if err := yaml.Unmarshal(data, &again); err != nil {
		return err
	}
	tree.NewParserLines(string(data)).Move(&again)
	e.data, e.lines = data, map[int]*yaml.Node{}
	var walk func(written, of *yaml.Node)
	walk = func(written, of *yaml.Node) {
		last := written.Line
		if written.Kind == yaml.ScalarNode && written.Style&yaml.LiteralStyle != 0 {
			last += strings.Count(written.Value, "\n") + 1
		}
		for line := written.Line; line <= last; line++ {
			e.lines[line] = of // inner nodes are visited last
		}
		for i := 0; i < len(written.Content) && i < len(of.Content) && written.Kind == of.Kind; i++ {
			walk(written.Content[i], of.Content[i])
		}
	}
	walk(&again, doc)
	return nil
}

// real returns where a line of the file was written: in the original file, or in the Application.
func (e *edited) real(p tree.Position) tree.Position {
	n := e.lines[p.Line]
	if n == nil {
		return tree.Position{Path: e.file, Line: min(p.Line, 1)}
	}
	if field, ok := e.fields[n]; ok {
		at := e.place("kustomize." + field).Position
		if n.Kind != yaml.ScalarNode || n.Style&yaml.LiteralStyle == 0 {
			return at
		}
		begins := p.Line
		for begins > 1 && e.lines[begins-1] == n {
			begins--
		}
		return origin.InScalar(e.linesOf(at.Path), at, n.Value, tree.Position{Line: p.Line - begins})
	}
	return tree.Position{Path: e.file, Line: n.Line, Column: n.Column}
}
